// SPDX-License-Identifier: GPL-2.0
/* Bits that mprotect() keeps, and uffd-wp, which goes the same way. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/env.h"
#include "kernel/wp.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "memory/share.h"
#include "proc/idle_range.h"
#include "run/ktap.h"

/* Protected by userfaultfd before: writes to these pages are still stopped. */
QUIRE_CASE_SIZES(mprotect, wp_kept, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = range_by_ptes(kib);
		int uffd = wp_protect(at, pages, kib, mask);

		range_protect(at, pages, PROT_READ);
		range_protect(at, pages, PROT_READ | PROT_WRITE);
		range_protect(at, pages, PROT_NONE);
		range_protect(at, pages, PROT_READ | PROT_WRITE);
		expect_content(at, pages, SEED, 0);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
	}
}

/* The whole range is protected, and all but the mask is released again. */
static void check_released(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	int uffd = uffd_open(WP_FEATURES);

	uffd_register_wp(uffd, at, pages * PAGE_SIZE);
	uffd_writeprotect(uffd, at, pages * PAGE_SIZE, true);
	for (n = 0; n < pages; n++)
		EXPECT(pagemap_page(page_at(at, n)).uffd_wp,
		       "page %zu is not protected", n);
	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib))
			uffd_writeprotect(uffd, page_at(at, n), PAGE_SIZE,
					  false);
	}
	expect_content(at, pages, SEED, 0);
	expect_wp_stopped(uffd, at, pages, kib, mask);
	uffd_writeprotect(uffd, at, pages * PAGE_SIZE, true);
	uffd_writeprotect(uffd, at, pages * PAGE_SIZE, false);
	expect_writable(at, pages);
	close(uffd);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(mprotect, wp_released, ALL_SIZES)
{
	check_released(kib, &mask_none);
	for_each_mask(mask)
		check_released(kib, mask);
}

/* Released while only some pages are exclusive: the others stay read-only. */
QUIRE_CASE_SIZES(mprotect, wp_released_shared, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(alone) {
		char *at = range_by_ptes(kib);
		struct peer peer;
		int uffd;

		if (!fork_without(&peer, at, pages, kib, alone)) {
			sharer_looks(&peer, at, pages, kib, alone);
			sharer_writes(&peer, at, pages, kib, alone);
		}
		uffd = uffd_open(WP_FEATURES);
		uffd_register_wp(uffd, at, pages * PAGE_SIZE);
		uffd_writeprotect(uffd, at, pages * PAGE_SIZE, true);
		range_protect(at, pages, PROT_READ);
		range_protect(at, pages, PROT_READ | PROT_WRITE);
		uffd_writeprotect(uffd, at, pages * PAGE_SIZE, false);
		expect_content(at, pages, SEED, 0);
		expect_writable(at, pages);
		peer_turn(&peer);
		peer_turn(&peer);
		expect_content(at, pages, SEED_NEW, 0);
		peer_turn(&peer);
		peer_join(&peer, "the child that shares some pages");
		close(uffd);
		range_drop(at, pages);
	}
}

/* No page becomes soft-dirty by mprotect(), and no later write is missed. */
QUIRE_CASE_SIZES(mprotect, soft_dirty, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	needs_soft_dirty();
	for_each_mask(mask) {
		char *at = range_by_ptes(kib);
		struct snapshot *before;

		soft_dirty_where(at, pages, kib, mask);
		before = snapshot(at, pages);
		range_protect(at, pages, PROT_READ);
		expect_entries(before, at);
		range_protect(at, pages, PROT_READ | PROT_WRITE);
		expect_entries(before, at);
		for (n = 0; n < pages; n++)
			EXPECT_EQ(before->page[n].soft_dirty,
				  masked(mask, n, kib));
		for (n = 0; n < pages; n++) {
			if (!masked(mask, n, kib))
				pattern_write_page(page_at(at, n), SEED, n);
		}
		for (n = 0; n < pages; n++)
			EXPECT(pagemap_page(page_at(at, n)).soft_dirty,
			       "a write to page %zu was missed", n);
		range_drop(at, pages);
		free(before);
	}
}

/* One page of each block was accessed: no block may look idle afterwards. */
QUIRE_CASE_SIZES(mprotect, accessed, 4, 16, 64)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct idle_range *idle = idle_range_open(at, pages);

	env_drain_lru();	/* a page that is not on a list has no idle bit */
	idle_range_mark(idle);
	range_protect(at, pages, PROT_READ);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	for (n = 3; n < pages; n += BLOCK)
		*(volatile char *)page_at(at, n);
	range_protect(at, pages, PROT_READ);
	idle_range_look(idle);
	/* The bitmap has a bit for each folio, of its first page. */
	EXPECT_EQ(idle_range_count(idle), pages / folio_pages(kib) - pages / BLOCK);
	idle_range_close(idle);
	range_drop(at, pages);
}
