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
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "process/peer.h"
#include "run/ktap.h"

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
QUIRE_CASE_SIZES_TAGGED(fixes, free_read_back, FIXES, 4, 16, 64, 256)
{
	size_t pages = range_pages(kib);
	char *at;

	swap_on(SWAP_FOR_TESTS);
	at = range_charged(kib, true);
	swap_out(at, pages);
	expect_content(at, pages, SEED, 0);
	/* Otherwise the swap cache keeps it, too. */
	EXPECT(!(kpage_flags(pagemap_page(at).pfn) & KPF_SWAPCACHE),
	       "page 0 is in the swap cache");
	expect_kept_from_child(at, pages);
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

QUIRE_CASE_SIZES_TAGGED(fixes, free_read_back_in_part, FIXES, 16, 64, 256)
{
	size_t pages = range_pages(kib);
	char *at;

	swap_on(SWAP_FOR_TESTS);
	at = range_charged(kib, true);
	swap_out(at, pages);
	folio_want(kib);
	expect_content(at, pages, SEED, 0);
	folio_want(PAGE_KIB);
	if (!folio_is_size(at, kib))
		SKIP("swap is read back as small folios");
	expect_half_kept(at, folio_pages(kib));
}

/* Not exclusive any more, but nobody else maps it: it may be freed. */
QUIRE_CASE_SIZES(fixes, free_child_gone, 4, 64, 2048)
{
	char *at = range_charged(kib, false);
	size_t pages = range_pages(kib);
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		peer_end(&peer);
	}
	peer_turn(&peer);
	peer_join(&peer, "the child");
	free_lazily(at, pages);
	reclaim(at, pages, BY_MEMCG);
	expect_zero(at, pages);
}

/*
 * Freed while a child has all pages, or one of each folio, and keeps them by the
 * dirty bits of its own entries.
 */
static void check_child_alive(unsigned long kib, bool all)
{
	size_t n, pages = range_pages(kib), step = folio_pages(kib);
	char *at = range_charged(kib, false);
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		for (n = 0; n < pages && !all; n += step)
			unmap(page_at(at, n + 1), (step - 1) * PAGE_SIZE);
		peer_turn(&peer);
		for (n = 0; n < pages; n += all ? 1 : step)
			expect_content(page_at(at, n), 1, SEED, n);
		peer_end(&peer);
	}
	peer_turn(&peer);
	free_lazily(at, pages);
	EXPECT_EQ(smaps_kib(at, "LazyFree"), pages * PAGE_SIZE / KIB);
	if (!all)
		reclaim_shared(peer.pid);
	peer_turn(&peer);
	peer_join(&peer, "the child");
	if (all)
		reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_present(at, pages), 0);
	range_drop(at, pages);
}

/* Once the child is gone, reclaim needs no swap. */
QUIRE_CASE_SIZES(fixes, free_child_alive, 4, 16, 64, 256, 1024)
{
	check_child_alive(kib, true);
}

/* The child's page does not keep the others, even while it is there. */
QUIRE_CASE_SIZES(fixes, free_beside_page, 16, 64, 256, 1024)
{
	check_child_alive(kib, false);
}
