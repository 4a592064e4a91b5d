// SPDX-License-Identifier: GPL-2.0
/* Bits that mprotect() keeps, and uffd-wp, which goes the same way. */
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/wp.h"
#include "memory/share.h"
#include "proc/idle_range.h"
#include "tests/matrix/operations.h"

/* The way to PROT_NONE and back is another one than that to PROT_READ. */
static void to_and_fro(struct trial *t, int prot)
{
	range_protect(t->at, t->pages, prot);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
}

static void protect(struct trial *t)
{
	range_protect(t->at, t->pages, PROT_READ);
	expect_entries(t->before, t->at);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	expect_entries(t->before, t->at);
	to_and_fro(t, PROT_NONE);
}

const struct operation protecting = {
	.ground = &plain, .act = protect,
	.spreads_young = true,
};

static void withdraw(struct trial *t)
{
	to_and_fro(t, PROT_NONE);
}

const struct operation withdrawing = {
	.ground = &plain, .act = withdraw,
	.spreads_young = true,
};

/* The whole range is protected, and all but the mask is released again. */
TRIAL_CASE(mprotect, wp_released, plain, MASKS | NONE_TOO, ALL_SIZES)
{
	size_t n;

	t->uffd = uffd_open(WP_FEATURES);

	uffd_register_wp(t->uffd, t->at, t->pages * PAGE_SIZE);
	uffd_writeprotect(t->uffd, t->at, t->pages * PAGE_SIZE, true);
	for (n = 0; n < t->pages; n++)
		EXPECT(pagemap_page(page_at(t->at, n)).uffd_wp,
		       "page %zu is not protected", n);
	for (n = 0; n < t->pages; n++) {
		if (!masked(t->mask, n, t->kib))
			uffd_writeprotect(t->uffd, page_at(t->at, n), PAGE_SIZE,
					  false);
	}
	expect_content(t->at, t->pages, SEED, 0);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
	uffd_writeprotect(t->uffd, t->at, t->pages * PAGE_SIZE, true);
	uffd_writeprotect(t->uffd, t->at, t->pages * PAGE_SIZE, false);
	expect_writable(t->at, t->pages);
}

/* Released while only some pages are exclusive: the others stay read-only. */
TRIAL_CASE(mprotect, wp_released_shared, plain, MASKS, ALL_SIZES)
{
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		sharer_looks(&t->peer, t->at, t->pages, t->kib, t->mask);
		sharer_writes(&t->peer, t->at, t->pages, t->kib, t->mask);
	}
	t->uffd = uffd_open(WP_FEATURES);
	uffd_register_wp(t->uffd, t->at, t->pages * PAGE_SIZE);
	uffd_writeprotect(t->uffd, t->at, t->pages * PAGE_SIZE, true);
	range_protect(t->at, t->pages, PROT_READ);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	uffd_writeprotect(t->uffd, t->at, t->pages * PAGE_SIZE, false);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);
	peer_turn(&t->peer);
	expect_content(t->at, t->pages, SEED_NEW, 0);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
}

/* One page of each block was accessed: no block may look idle afterwards. */
TRIAL_CASE(mprotect, accessed, plain, 0, 4, 16, 64)
{
	size_t n;
	struct idle_range *idle = idle_range_open(t->at, t->pages);

	env_drain_lru();	/* a page that is not on a list has no idle bit */
	idle_range_mark(idle);
	range_protect(t->at, t->pages, PROT_READ);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	for (n = 3; n < t->pages; n += BLOCK)
		*(volatile char *)page_at(t->at, n);
	range_protect(t->at, t->pages, PROT_READ);
	idle_range_look(idle);
	/* The bitmap has a bit for each folio, of its first page. */
	EXPECT_EQ(idle_range_count(idle), t->pages / folio_pages(t->kib) -
		  t->pages / BLOCK);
	idle_range_close(idle);
}
