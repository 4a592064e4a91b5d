// SPDX-License-Identifier: GPL-2.0
/* The kernel's counters must be correct during swap-out and after it. */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/usage.h"
#include "memory/share.h"
#include "proc/proc.h"
#include "process/child.h"
#include "swapout.h"

#define MIB_EACH	(16 * PAGE_SCALE)
#define PAGES		(MIB_EACH * MIB / PAGE_SIZE)

static char *big_range(unsigned long kib)
{
	char *at = range_filled(SRC_BASE, PAGES, kib);

	range_unlock(at, PAGES);
	return at;
}

/* Exact: smaps walks the PTEs, and slots are counted one by one. */
static void expect_counts(const char *at, unsigned long swapped_kib)
{
	unsigned long all = MIB_EACH * 1024;

	EXPECT_EQ(smaps_kib(at, "Rss"), all - swapped_kib);
	EXPECT_EQ(smaps_kib(at, "Anonymous"), all - swapped_kib);
	EXPECT_EQ(smaps_kib(at, "Swap"), swapped_kib);
	EXPECT_EQ(smaps_kib(at, "SwapPss"), swapped_kib);
}

static void check_counts(unsigned long kib, enum how how)
{
	unsigned long out = vmstat("pswpout"), all = MIB_EACH * 1024;
	struct usage first = usage_now();
	char *at = big_range(kib);

	expect_usage(&first, all, 0);
	reclaim(at, PAGES, how);
	expect_usage(&first, 0, all);
	expect_counts(at, all);
	EXPECT_EQ(usage_now().swap, all);
	EXPECT_EQ(memcg_swap_kib(), all);
	EXPECT_EQ(vmstat("pswpout") - out, PAGES);
	/* One half is swapped in; the other is dropped while in swap. */
	expect_content(at, PAGES / 2, SEED, 0);
	expect_writable(at, PAGES / 2);
	range_advise(page_at(at, PAGES / 2), PAGES / 2, MADV_DONTNEED);
	expect_usage(&first, all / 2, 0);
	EXPECT_EQ(usage_now().swap, 0);
	EXPECT_EQ(smaps_kib(at, "Swap"), 0);
	range_drop(at, PAGES);
	expect_usage(&first, 0, 0);
}

QUIRE_CASE_SIZES(swapout, counters, ALL_SIZES)
{
	enum how how;

	swapout_start(64 * PAGE_SCALE);
	for (how = 0; how < NR_HOW; how++)
		check_counts(kib, how);
	swapout_end();
}

/* As a whole: not split, and counted as one folio of its size. */
QUIRE_CASE_SIZES(swapout, not_split, LARGE_SIZES)
{
	size_t folios = PAGES / folio_pages(kib);
	enum how how;

	swapout_start(64 * PAGE_SCALE);
	for (how = 0; how < NR_HOW; how++) {
		unsigned long out = mthp_stat(kib, "swpout");
		unsigned long split = mthp_stat(kib, "split");
		char *at = big_range(kib);
		struct snapshot *before = snapshot(at, PAGES);

		reclaim(at, PAGES, how);
		expect_in_swap(before, at, kib);
		needs_whole_swap(kib);
		EXPECT_EQ(mthp_stat(kib, "swpout") - out, folios);
		EXPECT_EQ(mthp_stat(kib, "split") - split, 0);
		range_drop(at, PAGES);
		free(before);
	}
	swapout_end();
}

/*
 * A folio that is unmapped as a whole was never partially mapped, so it must
 * not be on the deferred split list.
 */
TRIAL_CASE(swapout, not_split_deferred, swapping, HOWS | MAPPINGS, LARGE_SIZES)
{
	unsigned long queued = mthp_stat(t->kib, "split_deferred");

	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	EXPECT_EQ(mthp_stat(t->kib, "split_deferred") - queued, 0);
}

/*
 * The child exits with memory that is partly in swap, partly swapped in and
 * partly shared. The kernel then checks the child's counters itself ("Bad
 * rss-counter").
 */
static void child(unsigned long kib, const struct mask *mask, enum how how)
{
	size_t pages = range_pages(kib);
	char *at = range_charged(kib, true);
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, mask)) {
		peer_wait(&peer);
		peer_end(&peer);
	}
	reclaim(at, pages, how);
	expect_masked(at, pages, kib, mask, SEED);
	peer_turn(&peer);
	peer_join(&peer, "the grandchild");
	exit(STATUS_OK);
}

QUIRE_CASE_SIZES(swapout, counters_at_exit, ALL_SIZES)
{
	struct usage first;

	swapout_start(64 * PAGE_SCALE);
	first = usage_now();
	for_each_mask(mask) {
		pid_t pid = fork_child();

		if (!pid)
			child(kib, mask, (mask - masks) % NR_HOW);
		wait_child(pid, "the child that ends with its memory");
	}
	expect_usage(&first, 0, 0);
	swapout_end();
}
