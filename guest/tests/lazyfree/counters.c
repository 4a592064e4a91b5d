// SPDX-License-Identifier: GPL-2.0
/* The kernel's counters must be correct during reclaim and after it. */
#include <stdlib.h>

#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "kernel/usage.h"
#include "lazyfree.h"
#include "proc/proc.h"
#include "process/child.h"

/* At least four folios, of which one is written again. */
static unsigned long mib_each(unsigned long kib)
{
	unsigned long least = 4 * kib * KIB / MIB;

	return least > 16 * PAGE_SCALE ? least : 16 * PAGE_SCALE;
}
static void expect_counts(const char *at, unsigned long kib,
			  unsigned long lazy_kib)
{
	EXPECT_EQ(smaps_kib(at, "Rss"), kib);
	EXPECT_EQ(smaps_kib(at, "Anonymous"), kib);
	EXPECT_EQ(smaps_kib(at, "LazyFree"), lazy_kib);
	EXPECT_EQ(smaps_kib(at, "Swap"), 0);
	EXPECT_EQ(status_kib("VmSwap"), 0);
}

static char *big_range(unsigned long kib)
{
	size_t pages = mib_each(kib) * MIB / PAGE_SIZE;
	char *at = range_filled(SRC_BASE, pages, kib);

	lazy_free(at, pages);
	return at;
}

static void check_counts(unsigned long kib, enum how how)
{
	size_t n, nr = folio_pages(kib), pages = mib_each(kib) * MIB / PAGE_SIZE;
	unsigned long all = mib_each(kib) * 1024;
	struct usage first = usage_now();
	char *at = big_range(kib);

	expect_usage(&first, all, 0);
	expect_counts(at, all, all);
	for (n = 0; n < pages; n += 4 * nr)
		lazy_rewrite(page_at(at, n), nr, kib, MASK_ALL);
	reclaim(at, pages, how);
	/* One folio of four is left: the rewritten one. */
	expect_usage(&first, all / 4, 0);
	expect_counts(at, all / 4, 0);
	range_drop(at, pages);
	expect_usage(&first, 0, 0);
}

QUIRE_CASE_SIZES(lazyfree, counters, ALL_SIZES)
{
	enum how how;

	memcg_enter();
	for (how = 0; how < NR_HOW; how++)
		check_counts(kib, how);
}

/* Fill, free and drop many times: nothing may be left behind. */
QUIRE_CASE_SIZES(lazyfree, nothing_leaks, ALL_SIZES)
{
	size_t pages = mib_each(kib) * MIB / PAGE_SIZE, round;
	struct usage first;
	char *at;

	memcg_enter();
	first = usage_now();
	at = big_range(kib);
	for (round = 0; round < 4; round++) {
		reclaim(at, pages, BY_PAGEOUT);
		EXPECT_EQ(pagemap_present(at, pages), 0);
		expect_usage(&first, 0, 0);
		range_fill(at, pages, kib, SEED);
		lazy_free(at, pages);
	}
	range_drop(at, pages);
	expect_usage(&first, 0, 0);
}

/*
 * The child exits with memory that was partly dropped, kept and swapped. The
 * kernel then checks the child's counters itself ("Bad rss-counter").
 */
QUIRE_CASE_SIZES(lazyfree, counters_at_exit, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct usage first;
	enum how how;
	pid_t pid;

	memcg_enter();
	swap_on(SWAP_MIB);
	first = usage_now();
	for (how = 0; how < NR_HOW; how++) {
		pid = fork_child();
		if (!pid) {
			char *at = lazy_range(kib, false);
			struct hold hold;

			reclaim(at, pages, how);
			range_fill(at, pages, kib, SEED);
			lazy_free(at, pages);
			hold = hold_folios(at, pages / 2, kib, 0);
			lazy_rewrite(at, pages / 4, kib, &masks[3]);
			reclaim(at, pages, how);
			hold_end(&hold);
			reclaim(at, pages, how);
			exit(STATUS_OK);
		}
		wait_child(pid, "the child that ends with its memory");
	}
	expect_usage(&first, 0, 0);
}

/*
 * A folio that is dropped as a whole was never partially mapped, so it must not
 * be on the deferred split list. Stock 6.12 puts every such folio there.
 */
TAGGED_TRIAL_CASE(lazyfree, not_split_deferred, SERIES, lazy, HOWS | MAPPINGS,
		  LARGE_SIZES)
{
	unsigned long queued = mthp_stat(t->kib, "split_deferred");

	reclaim(t->at, t->pages, t->how);
	expect_dropped(t->at, t->pages);
	EXPECT_EQ(mthp_stat(t->kib, "split_deferred") - queued, 0);
}

/* Nor is a folio that stays whole, because all of it was written again. */
TAGGED_TRIAL_CASE(lazyfree, kept_not_split_deferred, SERIES, lazy, 0,
		  LARGE_SIZES)
{
	unsigned long queued = mthp_stat(t->kib, "split_deferred");

	lazy_rewrite(t->at, t->pages, t->kib, MASK_ALL);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	EXPECT_EQ(mthp_stat(t->kib, "split_deferred") - queued, 0);
	EXPECT_EQ(pagemap_present(t->at, t->pages), t->pages);
}
