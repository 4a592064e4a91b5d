// SPDX-License-Identifier: GPL-2.0
/* Pages that leave a merge and return to it: written to, unmerged, unmapped. */
#include "ksm.h"
#include "proc/proc.h"
#include "process/map.h"

KSM_CASES(written_and_merged_again)
{
	struct mappings all = pair_merged(kind), rest;
	char *page = all.at[0].addr;

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	ksm_pass(1);
	rest = all;
	mappings_remove(&rest, NULL, page);
	act_write(page, OTHER);
	expect_reached(&rest);	/* ksmd has not seen the write yet */
	ksm_pass(2);
	expect_reached(&rest);
	expect_migrated(&rest);
	EXPECT(!act_verify(page, OTHER), "what was written is lost");
	act_write(page, SAME);
	mappings_merge(&all);
	expect_found(&all);
}

/*
 * The parent writes to its copy. ksmd scans it at an age at which smart scan
 * would skip it. The child's page is found as before.
 */
KSM_CASES(written_by_parent)
{
	struct mappings all = pair_merged(kind);
	char *page = all.at[0].addr;
	unsigned int n;

	ksm_pass(4);
	mappings_add_fork(&all, NULL, worker_fork(NULL));
	mappings_remove(&all, NULL, page);
	act_write(page, OTHER);
	for (n = 0; n < 4; n++) {
		expect_reached(&all);
		ksm_pass(1);
	}
	expect_found(&all);
	EXPECT(!act_verify(page, OTHER), "what was written is lost");
}

/* Every mapping has its own page. */
static void expect_apart(const struct mappings *all)
{
	struct page_state state;
	size_t i;

	for (i = 0; i < all->nr; i++) {
		state = mapping_state(&all->at[i]);
		EXPECT(state.present && kpage_count(state.pfn) == 1,
		       "process %d, %p: %#llx is still shared",
		       (int)worker_pid(all->at[i].who), all->at[i].addr,
		       (unsigned long long)state.raw);
	}
	expect_same(all);
}

KSM_CASES(all_unmerged)
{
	struct mappings all = pair_make(kind);

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	mappings_merge(&all);
	ksm_set("run", 2);
	expect_apart(&all);
	EXPECT_EQ(ksm_sysfs("pages_shared"), 0);
	EXPECT_EQ(ksm_sysfs("pages_sharing"), 0);
	mappings_merge(&all);
	expect_found(&all);
}

/* One process unmerges. It gets its own page; the others keep theirs. */
KSM_CASES(made_unmergeable)
{
	struct mappings all = pair_merged(kind), rest, out = { 0 };
	struct worker *child = worker_fork(NULL);

	mappings_add_fork(&all, NULL, child);
	ksm_pass(1);
	rest = all;
	mappings_remove(&rest, NULL, page_of(HOME, MID));
	ASSERT(!act_unmergeable(HOME, RANGE_PAGES), "MADV_UNMERGEABLE failed");
	mappings_add(&out, NULL, page_of(HOME, MID));
	expect_apart(&out);
	expect_reached(&rest);
	ksm_pass(2);
	expect_found(&rest);
	expect_same(&all);
}

/*
 * A sharer unmaps its page, and another one takes its place, before ksmd scans
 * again. ksmd must not mistake the new page for the merged one.
 */
KSM_CASES(place_reused)
{
	struct mappings all = pair_merged(kind), out = { 0 };
	struct page_state before, now;
	char *page = all.at[0].addr;

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	mappings_remove(&all, NULL, page);
	unmap(page, PAGE_SIZE);
	map_anon(page, PAGE_SIZE);
	act_write(page, OTHER);
	mappings_add(&out, NULL, page);
	before = mapping_state(&out.at[0]);
	expect_reached(&all);
	expect_migrated(&all);
	now = mapping_state(&out.at[0]);
	EXPECT_EQ(now.pfn, before.pfn);
	EXPECT(!act_verify(page, OTHER), "what was written is lost");
	ksm_pass(2);
	expect_found(&all);
	EXPECT(!act_verify(page, OTHER), "what was written is lost");
}

/*
 * Two equal pages; the second one to be merged gets an extra reference after
 * ksmd has visited it. ksmd must give up half-way, and succeed later.
 */
static void half_merged(enum range_kind kind)
{
	struct mappings all = { 0 };
	unsigned int n;
	int held;

	/* The page at the lower address is put into the unstable tree. */
	mappings_add(&all, NULL, twin_make_at(LOW_TWIN));
	mappings_add(&all, NULL, page_of(range_make(kind), MID));
	for (n = 0; n < 4; n++) {
		ksm_visit_first();
		held = page_hold(LOW_TWIN);
		ksm_pass(1);
		EXPECT(!mappings_merged(&all),
		       "a page with an extra reference was merged");
		expect_apart(&all);
		page_let_go(held);
	}
	mappings_merge(&all);
	expect_found(&all);
}

KSM_CASE(half_merged, half_merged(PLAIN))
KSM_CASE(half_merged_moved, half_merged(MOVED))
KSM_CASE(half_merged_far, half_merged(FAR))

/*
 * The first of some equal pages has an extra reference, and cannot be merged.
 * The only other one is left alone; a third one is merged with it.
 */
QUIRE_CASE_TAGGED(ksm, equals_of_referenced, FIXES)
{
	struct mappings all = { 0 };
	uint64_t pfn;
	int held;

	ksm_begin();
	twin_make_at(LOW_TWIN);
	held = page_hold(LOW_TWIN);
	mappings_add(&all, NULL, twin_make(0));
	pfn = mapping_state(&all.at[0]).pfn;
	ksm_pass(6);
	EXPECT_EQ(mapping_state(&all.at[0]).pfn, pfn);
	mappings_add(&all, NULL, twin_make(1));
	ksm_pass(30);
	EXPECT(mappings_merged(&all), "two pages did not merge beside a third");
	page_let_go(held);
}
