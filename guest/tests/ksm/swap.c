// SPDX-License-Identifier: GPL-2.0
/* Merged pages in swap, and VMAs that move meanwhile. */
#include "ksm.h"
#include "process/map.h"

KSM_CASES(swapped_and_merged_again)
{
	struct mappings all = pair_merged(kind);

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	expect_swapped(&all);
	mappings_merge(&all);
	expect_found(&all);
}

/* The page is freed when the VMA moves; swap-in allocates a new one. */
KSM_CASES(moved_while_swapped)
{
	struct mappings all = pair_merged(kind);

	mappings_swap_out(&all);
	range_move(HOME, RANGE_PAGES, AWAY);
	all.at[0].addr = page_of(AWAY, MID);
	expect_same(&all);
	mappings_merge(&all);
	expect_found(&all);
}

/*
 * The page is still in the swap cache when the VMA moves. The new place then
 * maps the merged page, and ksmd has not merged it there.
 */
static struct mappings moved_in_swap_cache(enum range_kind kind)
{
	struct mappings all = pair_merged(kind);
	uint64_t pfn = mappings_merged(&all);
	int held = page_hold(all.at[1].addr);

	mappings_swap_out(&all);
	range_move(HOME, RANGE_PAGES, AWAY);
	all.at[0].addr = page_of(AWAY, MID);
	expect_same(&all);
	page_let_go(held);
	EXPECT_EQ(mappings_merged(&all), pfn);
	return all;
}

KSM_CASES(moved_in_swap_cache_scanned)
{
	struct mappings all = moved_in_swap_cache(kind);

	ksm_pass(2);
	expect_found(&all);
}

/* Stock looks for the page only where ksmd has scanned it. */
QUIRE_CASE_TAGGED(ksm, moved_in_swap_cache_unscanned, FIXES)
{
	struct mappings all;

	ksm_begin();
	all = moved_in_swap_cache(PLAIN);
	expect_found(&all);
}

QUIRE_CASE_TAGGED(ksm, moved_in_swap_cache_unscanned_file, FIXES)
{
	struct mappings all;

	ksm_begin();
	all = moved_in_swap_cache(FILE_PAGES);
	expect_found(&all);
}

/* Merge with a second page of the range; hold what goes to the swap cache. */
static int swap_out_with(struct mappings *all, char *second)
{
	int held;

	act_write(second, SAME);
	mappings_add(all, NULL, second);
	mappings_merge(all);
	held = page_hold(all->at[1].addr);
	mappings_swap_out(all);
	return held;
}

/*
 * Two pages of one range are merged. While they are in the swap cache, one is
 * moved to the place of the other: the same merged page at the same address as
 * before, with another index.
 */
KSM_CASES(moved_onto_sharer)
{
	struct mappings all = pair_make(kind);
	char *first = all.at[0].addr, *second = page_of(HOME, MID + 4);
	int held = swap_out_with(&all, second);

	range_move(second, 1, first);
	mappings_remove(&all, NULL, second);
	expect_same(&all);
	page_let_go(held);
	ksm_pass(2);
	expect_found(&all);
}

static long onto_sharer(char *second, long held)
{
	char *first = page_of(HOME, MID);

	page_let_go(held);	/* what was inherited */
	range_move(second, 1, first);
	range_mergeable(first, 1);
	return 0;
}

/*
 * The same in a child that has moved nothing so far, with a VMA that was no
 * longer mergeable when the child was forked.
 */
KSM_CASES(moved_onto_sharer_by_child)
{
	struct mappings all = pair_make(kind);
	char *second = page_of(HOME, MID + 4);
	int held = swap_out_with(&all, second);
	struct worker *child;

	ASSERT(!act_unmergeable(second, 1), "MADV_UNMERGEABLE failed");
	child = worker_fork(NULL);
	unmap(second, PAGE_SIZE);
	mappings_remove(&all, NULL, second);
	mappings_add_fork(&all, NULL, child);
	expect_same(&all);
	ksm_pass(2);	/* all but the child's second page */
	mappings_swap_out(&all);
	worker_do(child, onto_sharer, second, held);
	expect_same(&all);
	page_let_go(held);
	ksm_pass(2);
	expect_found(&all);
}

/*
 * The page is in the swap cache when one of its VMAs stops merging, and is read
 * back after ksmd has forgotten it there. It must not stay in memory for good.
 * After another pass, ksmd knows the other mapping of the merged page again.
 */
QUIRE_CASE_TAGGED(ksm, unmergeable_in_swap_cache, FIXES)
{
	struct mappings all, one = { 0 };
	uint64_t pfn;
	int held;

	ksm_begin();
	all = pair_merged(PLAIN);
	pfn = mappings_merged(&all);
	held = page_hold(all.at[1].addr);
	mappings_swap_out(&all);
	ASSERT(!act_unmergeable(all.at[0].addr, 1), "MADV_UNMERGEABLE failed");
	ksm_pass(2);
	expect_same(&all);
	EXPECT_EQ(mapping_state(&all.at[1]).pfn, pfn);	/* from the swap cache */
	page_let_go(held);
	ksm_pass(1);
	mappings_add(&one, NULL, all.at[0].addr);
	mappings_swap_out(&one);
	expect_same(&all);
}
