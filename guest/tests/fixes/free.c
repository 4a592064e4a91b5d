// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_FREE of pages that somebody else uses, too. A clean page is no more
 * given up than a dirty one: its contents are in no other place.
 */
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/khugepaged.h"
#include "kernel/ksm.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "tests/matrix/trial.h"

#define TWIN		DST_BASE

static void free_lazily(char *addr, size_t pages)
{
	range_advise(addr, pages, MADV_FREE);
	env_drain_lru();
}

/* They went to swap, and not nowhere. */
static void expect_swapped(char *addr, size_t pages, size_t first)
{
	EXPECT_EQ(pagemap_swapped(addr, pages), pages);
	expect_content(addr, pages, SEED, first);
}

/* A child frees what it shares with this process; nobody writes. */
static void expect_kept_from_child(char *addr, size_t pages)
{
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		free_lazily(addr, pages);
		peer_turn(&peer);
		peer_end(&peer);
	}
	peer_turn(&peer);
	reclaim_shared(peer.pid);
	expect_swapped(addr, pages, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that frees");
}

/* Read back from a device without a swap cache in between, and clean. */
TAGGED_TRIAL_CASE(fixes, free_read_back, FIXES, charged_with_swap, 0,
		  4, 16, 64, 256)
{
	swap_out(t->at, t->pages);
	expect_content(t->at, t->pages, SEED, 0);
	/* Otherwise the swap cache keeps it, too. */
	EXPECT(!(kpage_flags(pagemap_page(t->at).pfn) & KPF_SWAPCACHE),
	       "page 0 is in the swap cache");
	expect_kept_from_child(t->at, t->pages);
}

/* Two pages that hold the same, merged: page 0 of the range and its twin. */
static char *merged_page(void)
{
	char *at = range_charged(PAGE_KIB, true);

	range_filled(TWIN, 1, PAGE_KIB);
	ksm_mergeable(at, PAGE_SIZE);
	ksm_mergeable(TWIN, PAGE_SIZE);
	ksm_merge(at, TWIN);
	return at;
}

/* Merged and taken apart again: the copies are clean. */
QUIRE_CASE_TAGGED(fixes, free_unmerged, FIXES)
{
	char *at;

	swap_on(SWAP_FOR_TESTS);
	at = merged_page();
	range_advise(at, 1, MADV_UNMERGEABLE);
	EXPECT(!ksm_merged(at, TWIN), "the page is still merged");
	expect_kept_from_child(at, 1);
}

/*
 * The last one who maps a merged page frees it, and then the twin is merged
 * with it once more.
 */
QUIRE_CASE_TAGGED(fixes, free_merged, FIXES)
{
	char *at;

	swap_on(SWAP_FOR_TESTS);
	at = merged_page();
	pattern_write_page(TWIN, SEED_NEW, 0);
	free_lazily(at, 1);
	pattern_write_page(TWIN, SEED, 0);
	ksm_merge(at, TWIN);
	reclaim(TWIN, 1, BY_MEMCG);
	expect_swapped(TWIN, 1, 0);
}

/*
 * A folio that khugepaged made of pages that were written before and can only be
 * read now: its entries are clean, except for those of PMD_SIZE.
 */
static char *collapsed(unsigned long kib)
{
	size_t pages = folio_pages(kib);
	char *at = range_hole(SRC_BASE, PMD_PAGES);

	memcg_enter();
	folio_want(PAGE_KIB);
	map_anon(at, PMD_SIZE);
	pattern_write(at, pages * PAGE_SIZE, SEED);
	range_protect(at, PMD_PAGES, PROT_READ);
	khugepaged_collapse(at, PMD_SIZE, kib);
	/* MADV_FREE leaves out what is not on the lists yet. */
	env_drain_lru();
	return at;
}

QUIRE_CASE_SIZES_TAGGED(fixes, free_collapsed, FIXES, 16, 64, 256, 1024, 2048)
{
	char *at;

	swap_on(SWAP_FOR_TESTS);
	at = collapsed(kib);
	expect_kept_from_child(at, folio_pages(kib));
}

/*
 * A child has only the second half of a folio: the first page is exclusive, the
 * folio is not. This process frees all of it.
 */
static void expect_half_kept(char *at, size_t pages)
{
	size_t half = pages / 2;
	struct peer peer;

	range_advise(at, half, MADV_DONTFORK);
	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_swapped(page_at(at, half), half, half);
		peer_end(&peer);
	}
	range_advise(at, half, MADV_DOFORK);
	free_lazily(at, pages);
	reclaim_shared(peer.pid);
	peer_turn(&peer);
	peer_join(&peer, "the child that has a half");
}

QUIRE_CASE_SIZES_TAGGED(fixes, free_collapsed_in_part, FIXES, 16, 64, 256, 1024)
{
	char *at;

	swap_on(SWAP_FOR_TESTS);
	at = collapsed(kib);
	expect_half_kept(at, folio_pages(kib));
}

TAGGED_TRIAL_CASE(fixes, free_read_back_in_part, FIXES, charged_with_swap, 0,
		  16, 64, 256)
{
	swap_out(t->at, t->pages);
	folio_want(t->kib);
	expect_content(t->at, t->pages, SEED, 0);
	folio_want(PAGE_KIB);
	if (!folio_is_size(t->at, t->kib))
		SKIP("swap is read back as small folios");
	expect_half_kept(t->at, folio_pages(t->kib));
}

/* Not exclusive any more, but nobody else maps it: it may be freed. */
TRIAL_CASE(fixes, free_child_gone, charged, MAPPINGS, 4, 64, 2048)
{
	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		peer_end(&t->peer);
	}
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child");
	free_lazily(t->at, t->pages);
	reclaim(t->at, t->pages, BY_MEMCG);
	expect_zero(t->at, t->pages);
}

/*
 * Freed while a child has all pages, or one of each folio, and keeps them by the
 * dirty bits of its own entries.
 */
static void check_child_alive(struct trial *t, bool all)
{
	size_t n, step = folio_pages(t->kib);

	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		for (n = 0; n < t->pages && !all; n += step)
			unmap(page_at(t->at, n + 1), (step - 1) * PAGE_SIZE);
		peer_turn(&t->peer);
		for (n = 0; n < t->pages; n += all ? 1 : step)
			expect_content(page_at(t->at, n), 1, SEED, n);
		peer_end(&t->peer);
	}
	peer_turn(&t->peer);
	free_lazily(t->at, t->pages);
	EXPECT_EQ(smaps_kib(t->at, "LazyFree"), t->pages * PAGE_SIZE / KIB);
	if (!all)
		reclaim_shared(t->peer.pid);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child");
	if (all)
		reclaim(t->at, t->pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_present(t->at, t->pages), 0);
}

/* Once the child is gone, reclaim needs no swap. */
CALL_TRIAL_CASE(fixes, free_child_alive, charged, MAPPINGS,
		check_child_alive(t, true), 4, 16, 64, 256, 1024)

/* The child's page does not keep the others, even while it is there. */
CALL_TRIAL_CASE(fixes, free_beside_page, charged, MAPPINGS,
		check_child_alive(t, false), 16, 64, 256, 1024)
