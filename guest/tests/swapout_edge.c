// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that lie across the end of a page table or of a VMA, or are mapped in
 * part: what a run of entries must not reach over.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "folio.h"
#include "memcg.h"
#include "part.h"
#include "pattern.h"
#include "peer.h"
#include "swapout.h"

/* Moved so that `before` pages lie below the end of a page table. */
static void check_across(unsigned long kib, size_t before)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	char *to = range_hole(page_at(DST_BASE, PMD_PAGES - before), pages);
	struct snapshot *was;

	move(at, pages, to);
	was = snapshot(to, pages);
	reclaim(to, pages, BY_MEMCG);
	expect_in_swap(was, to, kib);
	expect_content(to, pages, SEED, 0);
	expect_back(was, to);
	expect_writable(to, pages);
	range_drop(at, pages);
	range_drop(to, pages);
	free(was);
}

QUIRE_CASE_SIZES(swapout, across_pmd, LARGE_SIZES)
{
	size_t nr = folio_pages(kib);

	swapout_start(SWAP_MIB);
	check_across(kib, 1);
	check_across(kib, nr / 2);
	check_across(kib, nr - 1);
	swapout_end();
}

static void check_part(unsigned long kib, const struct mask *mask,
		       const struct part *part)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);

	part_give(at, pages, kib, mask, part);
	reclaim(at, pages, BY_MEMCG);
	EXPECT(!pagemap_present(at, pages), "%s of %s pages: %zu stay mapped",
	       part->name, mask->name, pagemap_present(at, pages));
	expect_part(at, pages, kib, mask, part);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(swapout, part, LARGE_SIZES)
{
	size_t i, j;

	swapout_start(SWAP_MIB);
	for (j = 0; j < NR_PARTS; j++) {
		/* The last mask, all pages, leaves none for a part. */
		for (i = 0; i < NR_MASKS - 1; i++)
			check_part(kib, &masks[i], &parts[j]);
	}
	swapout_end();
}

/*
 * A run of entries must end with its page table. What lies behind it in memory
 * is often the next table to be made: here one of another process, whose first
 * entries map just the pages that would continue the run.
 */
#define TRIES	24u	/* in not all of them the tables are neighbours */
/* The child's table: the high halves of the folios, from its start on. */
#define CHILD_AT(i)	page_at(DST2_BASE, (i) * PMD_PAGES)
/* The parent's: the low halves at its end. */
#define PARENT_AT(i, low)	page_at(DST_BASE, ((i) + 1) * PMD_PAGES - (low))

static void child(struct peer *peer, size_t pages, size_t low)
{
	size_t i;

	for (i = 0; i < TRIES; i++) {
		char *from = page_at(SRC_BASE, i * pages);

		peer_wait(peer);
		move(page_at(from, low), pages - low, CHILD_AT(i));
		unmap(from, low * PAGE_SIZE);
		peer_go(peer);
	}
	peer_wait(peer);
	for (i = 0; i < TRIES; i++) {
		expect_content(CHILD_AT(i), pages - low, SEED, i * pages + low);
		expect_writable(CHILD_AT(i), pages - low);
	}
	peer_end(peer);
}

/* Only the table ends: the VMA is long enough for all of the folio. */
static void parent(struct peer *peer, size_t pages, size_t low)
{
	size_t i;

	for (i = 0; i < TRIES; i++) {
		char *from = page_at(SRC_BASE, i * pages);

		move(from, low, PARENT_AT(i, low));
		peer_turn(peer);
		unmap(page_at(from, low), (pages - low) * PAGE_SIZE);
		if (mremap(PARENT_AT(i, low), low * PAGE_SIZE,
			   pages * PAGE_SIZE, 0) == MAP_FAILED)
			die_errno("mremap to enlarge the mapping of folio %zu",
				  i);
	}
}

static void touch_table_above(char *addr)
{
	*(char *)map_anon(addr, PAGE_SIZE) = 1;
}

QUIRE_CASE_SIZES(swapout, ends_with_table, 16, 64, 256, 1024)
{
	size_t i, pages = folio_pages(kib), low = pages / 2;
	size_t len = TRIES * pages * PAGE_SIZE;
	struct peer peer;

	swapout_start(64);
	stay_on_cpu(0);
	probe_init();
	/* The tables above those at work, so that these are made one by one. */
	touch_table_above(CHILD_AT(TRIES + 1));
	touch_table_above(PARENT_AT(TRIES + 1, 0));
	folio_map_filled(SRC_BASE, len, kib, SEED);
	folio_want(4);
	if (munlock(SRC_BASE, len))
		die_errno("munlock of the range");
	if (!peer_fork(&peer))
		child(&peer, pages, low);
	parent(&peer, pages, low);
	reclaim_shared(peer.pid);
	for (i = 0; i < TRIES; i++) {
		EXPECT_EQ(pagemap_swapped(PARENT_AT(i, low), low), low);
		expect_content(PARENT_AT(i, low), low, SEED, i * pages);
		expect_writable(PARENT_AT(i, low), low);
	}
	peer_turn(&peer);
	peer_join(&peer, "the child with the other tables");
	for (i = 0; i < TRIES; i++)
		unmap(PARENT_AT(i, low), pages * PAGE_SIZE);
	swapout_end();
}
