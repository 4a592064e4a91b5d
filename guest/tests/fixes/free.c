// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_FREE of pages that somebody else uses, too. A clean page is no more
 * given up than a dirty one: its contents are in no other place.
 */
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/ksm.h"
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "process/peer.h"
#include "report/die.h"
#include "run/ktap.h"

#define SWAP_MIB	64
#define TWIN		DST_BASE

static void free_lazily(char *addr, size_t pages)
{
	if (madvise(addr, pages * PAGE_SIZE, MADV_FREE))
		die_errno("MADV_FREE of %zu pages", pages);
	env_drain_lru();
}

/* They went to swap, and not nowhere. */
static void expect_swapped(char *addr, size_t pages)
{
	EXPECT_EQ(pagemap_swapped(addr, pages), pages);
	expect_content(addr, pages, SEED, 0);
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
	expect_swapped(addr, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child that frees");
}

/* Read back from a device without a swap cache in between, and clean. */
QUIRE_CASE_SIZES_TAGGED(fixes, free_read_back, FIXES, 4, 16, 64, 256)
{
	size_t pages = range_pages(kib);
	char *at;

	swap_on(SWAP_MIB);
	at = range_charged(kib, true);
	swap_out(at, pages);
	expect_content(at, pages, SEED, 0);
	/* Otherwise the swap cache keeps it, too. */
	EXPECT(!(kpage_flags(pagemap_page(at).pfn) & KPF_SWAPCACHE),
	       "page 0 is in the swap cache");
	expect_kept_from_child(at, pages);
	range_drop(at, pages);
}

/* Two pages that hold the same, merged: page 0 of the range and its twin. */
static char *merged_page(void)
{
	char *at = range_charged(4, true);

	range_filled(TWIN, 1, 4);
	ksm_mergeable(at, PAGE_SIZE);
	ksm_mergeable(TWIN, PAGE_SIZE);
	ksm_merge(at, TWIN);
	return at;
}

/* Merged and taken apart again: the copies are clean. */
QUIRE_CASE_TAGGED(fixes, free_unmerged, FIXES)
{
	char *at;

	swap_on(SWAP_MIB);
	at = merged_page();
	if (madvise(at, PAGE_SIZE, MADV_UNMERGEABLE))
		die_errno("MADV_UNMERGEABLE");
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

	swap_on(SWAP_MIB);
	at = merged_page();
	pattern_write_page(TWIN, SEED_NEW, 0);
	free_lazily(at, 1);
	pattern_write_page(TWIN, SEED, 0);
	ksm_merge(at, TWIN);
	reclaim(TWIN, 1, BY_MEMCG);
	expect_swapped(TWIN, 1);
}
