// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that are unmapped in several runs, as their entries or their pages
 * differ. All of a folio is mapped before and after it moves, so it does not
 * count as partially mapped, is not queued for the shrinker that splits folios,
 * and moves whole a second time. Stock queues it as soon as a part is unmapped.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/hold.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "migrate.h"
#include "proc/proc.h"
#include "report/die.h"
#include "tests/aging/aging.h"

static void check_whole(char *at, size_t pages, unsigned long kib)
{
	unsigned long queued = mthp_stat(kib, "split_deferred");

	migrate(at, pages);
	EXPECT_EQ(mthp_stat(kib, "split_deferred"), queued);
	migrate(at, pages);
	expect_folios(at, pages, kib);
	expect_content(at, pages, SEED, 0);
}

/* Some pages were accessed. On arm64, those of a contpte block are all alike. */
QUIRE_CASE_SIZES_TAGGED(migrate, moves_twice_touched, FIXES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);

	needs_nodes();
	for_each_mask(mask) {
		char *at = migrate_range(kib, true);

		age_range(at, pages);
		access_pages(at, pages, kib, mask);
		check_whole(at, pages, kib);
		expect_writable(at, pages);
		range_drop(at, pages);
	}
}

/* Some pages are this process's alone, and a child shares the others. */
QUIRE_CASE_SIZES_TAGGED(migrate, moves_twice_shared, FIXES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);

	needs_nodes();
	for_each_mask(mask) {
		char *at = migrate_range(kib, true);
		struct peer peer;

		if (!fork_without(&peer, at, pages, kib, mask)) {
			sharer_looks(&peer, at, pages, kib, mask);
			exit(0);
		}
		check_whole(at, pages, kib);
		peer_turn(&peer);
		peer_join(&peer, "the child that shares some pages");
		range_drop(at, pages);
	}
}

/* One process maps folios by PMDs, and another, by PTEs, all but one page. */
QUIRE_CASE_SIZES_TAGGED(migrate, moves_twice_by_pmd_and_ptes, FIXES, 2048)
{
	size_t pages = 2 * PMD_PAGES;
	struct peer peer;
	char *at, *gone;

	needs_nodes();
	at = range_by_pmds(2);
	gone = page_at(at, PMD_PAGES + 3);
	if (!peer_fork(&peer)) {
		if (madvise(gone, PAGE_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED");
		peer_go(&peer);
		peer_wait(&peer);
		expect_content(at, PMD_PAGES, SEED, 0);
		peer_end(&peer);
	}
	peer_wait(&peer);
	check_whole(at, pages, kib);
	peer_turn(&peer);
	peer_join(&peer, "the child that maps a folio by PTEs");
	range_drop(at, pages);
}

/* Who holds a page keeps its folio from moving, and then it moves whole. */
QUIRE_CASE_SIZES_TAGGED(migrate, held_stays_whole, FIXES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	unsigned long queued;
	struct snapshot *before;
	struct hold hold;
	char *at;

	needs_nodes();
	at = migrate_range(kib, true);
	age_range(at, pages);
	access_pages(at, pages, kib, MASK_EVEN);
	hold = hold_folios(at, pages, kib, folio_pages(kib) - 1);
	queued = mthp_stat(kib, "split_deferred");
	before = snapshot(at, folio_pages(kib));
	move_to_node(0, at, pages, !node_of(at));
	expect_entries(before, at);
	EXPECT_EQ(mthp_stat(kib, "split_deferred"), queued);
	hold_end(&hold);
	check_whole(at, pages, kib);
	range_drop(at, pages);
	free(before);
}

/* A folio that is partially mapped is queued, and is split before it moves. */
QUIRE_CASE_SIZES(migrate, partly_mapped_split, LARGE_SIZES)
{
	size_t n, pages = range_pages(kib), nr = folio_pages(kib);
	unsigned long split;
	char *at;

	needs_nodes();
	at = migrate_range(kib, true);
	for (n = 0; n < pages; n += nr) {
		if (madvise(page_at(at, n + nr - 1), PAGE_SIZE,
			    MADV_DONTNEED))
			die_errno("MADV_DONTNEED of page %zu", n + nr - 1);
	}
	split = mthp_stat(kib, "split");
	migrate(at, pages);
	EXPECT_EQ(mthp_stat(kib, "split"), split + pages / nr);
	for (n = 0; n < pages; n += nr)
		expect_content(page_at(at, n), nr - 1, SEED, n);
	range_drop(at, pages);
}
