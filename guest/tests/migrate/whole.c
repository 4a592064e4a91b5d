// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that are unmapped in several runs, as their entries or their pages
 * differ. All of a folio is mapped before and after it moves, so it does not
 * count as partially mapped, is not queued for the shrinker that splits folios,
 * and moves whole a second time. Stock queues it as soon as a part is unmapped.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/share.h"
#include "migrate.h"
#include "proc/proc.h"
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
TAGGED_TRIAL_CASE(migrate, moves_twice_touched, FIXES, on_nodes, MASKS,
		  LARGE_SIZES)
{
	age_range(t->at, t->pages);
	access_pages(t->at, t->pages, t->kib, t->mask);
	check_whole(t->at, t->pages, t->kib);
	expect_writable(t->at, t->pages);
}

/* Some pages are this process's alone, and a child shares the others. */
TAGGED_TRIAL_CASE(migrate, moves_twice_shared, FIXES, on_nodes, MASKS,
		  LARGE_SIZES)
{
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		sharer_looks(&t->peer, t->at, t->pages, t->kib, t->mask);
		exit(0);
	}
	check_whole(t->at, t->pages, t->kib);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
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
		range_advise(gone, 1, MADV_DONTNEED);
		peer_go(&peer);
		peer_wait(&peer);
		expect_content(at, PMD_PAGES, SEED, 0);
		peer_end(&peer);
	}
	peer_wait(&peer);
	check_whole(at, pages, kib);
	peer_turn(&peer);
	peer_join(&peer, "the child that maps a folio by PTEs");
}

/* Who holds a page keeps its folio from moving, and then it moves whole. */
TAGGED_TRIAL_CASE(migrate, held_stays_whole, FIXES, on_nodes, 0, LARGE_SIZES)
{
	unsigned long queued;

	age_range(t->at, t->pages);
	access_pages(t->at, t->pages, t->kib, MASK_EVEN);
	t->hold = hold_folios(t->at, t->pages, t->kib, folio_pages(t->kib) - 1);
	queued = mthp_stat(t->kib, "split_deferred");
	t->before = snapshot(t->at, folio_pages(t->kib));
	move_to_node(0, t->at, t->pages, !node_of(t->at));
	expect_entries(t->before, t->at);
	EXPECT_EQ(mthp_stat(t->kib, "split_deferred"), queued);
	hold_end(&t->hold);
	check_whole(t->at, t->pages, t->kib);
}

/* A folio that is partially mapped is queued, and is split before it moves. */
TRIAL_CASE(migrate, partly_mapped_split, on_nodes, 0, LARGE_SIZES)
{
	size_t n, nr = folio_pages(t->kib);
	unsigned long split;

	for (n = 0; n < t->pages; n += nr)
		range_advise(page_at(t->at, n + nr - 1), 1, MADV_DONTNEED);
	split = mthp_stat(t->kib, "split");
	migrate(t->at, t->pages);
	EXPECT_EQ(mthp_stat(t->kib, "split"), split + t->pages / nr);
	for (n = 0; n < t->pages; n += nr)
		expect_content(page_at(t->at, n), nr - 1, SEED, n);
}
