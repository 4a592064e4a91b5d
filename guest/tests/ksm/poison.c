// SPDX-License-Identifier: GPL-2.0
/*
 * Memory failure of a merged page. The kernel unmaps it everywhere. Processes
 * that asked for it (PR_MCE_KILL_EARLY) get a signal with the address at which
 * they had it.
 */
#include "sigbus.h"

/*
 * A worker with the range, its child, and this process with the twin: merged.
 */
struct scene {
	struct mappings all;
	struct worker *parent;
	struct worker *child;
	char *page;
};

static struct scene scene_merged(enum range_kind kind, bool early)
{
	struct scene scene = {
		.parent = worker_fork(NULL), .page = page_of(HOME, MID),
	};

	act_watch(NULL, early);
	worker_do(scene.parent, act_watch, NULL, early);
	worker_do(scene.parent, act_range, NULL, kind);
	mappings_add(&scene.all, NULL, twin_make(0));
	mappings_add(&scene.all, scene.parent, scene.page);
	mappings_merge(&scene.all);
	scene.child = worker_fork(scene.parent);
	return scene;
}

static void check_told(enum range_kind kind, unsigned int passes)
{
	struct scene scene = scene_merged(kind, true);
	uint64_t pfn;

	mappings_add(&scene.all, scene.child, scene.page);
	if (passes)
		ksm_pass(passes);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_told(scene.child, scene.page);
	expect_out_of_reach(&scene.all, pfn);
}

KSM_CASES(poison_told) { check_told(kind, 0); }
KSM_CASES(poison_told_scanned) { check_told(kind, 2); }

/* A process that did not ask gets the signal when it reads, and not before. */
KSM_CASES(poison_late)
{
	struct scene scene = scene_merged(kind, false);
	uint64_t pfn;

	mappings_add(&scene.all, scene.child, scene.page);
	pfn = poison(&scene.all);
	expect_not_told(NULL);
	expect_not_told(scene.parent);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
}

/* Only the page itself counts, not equal contents. */
KSM_CASES(poison_spares_strangers)
{
	struct worker *stranger = worker_fork(NULL);
	struct scene scene;
	uint64_t pfn;

	worker_do(stranger, act_watch, NULL, true);
	worker_do(stranger, act_range, NULL, kind);
	worker_do(stranger, act_unmergeable, HOME, RANGE_PAGES);
	scene = scene_merged(kind, true);
	worker_do(scene.child, act_unmap, HOME, RANGE_PAGES);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_not_told(stranger);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
	EXPECT(!worker_do(stranger, act_verify, scene.page, SAME),
	       "the stranger's page is damaged");
}

/*
 * The child has VMAs in the same anon_vma, but none over the page. Stock sends
 * it a signal for a page that it does not have.
 */
static void spares_without_mapping(enum range_kind kind)
{
	struct scene scene = scene_merged(kind, true);
	uint64_t pfn;

	worker_do(scene.child, act_unmap, scene.page, 1);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
}

KSM_FIXES_CASE(poison_spares_unmapped, spares_without_mapping(PLAIN))
KSM_FIXES_CASE(poison_spares_unmapped_moved, spares_without_mapping(MOVED))
KSM_FIXES_CASE(poison_spares_unmapped_file, spares_without_mapping(FILE_PAGES))

/* A child that moved its range gets its own address. */
KSM_CASES(poison_told_moved_child)
{
	struct mappings all = { 0 };
	struct worker *parent = worker_fork(NULL), *child;
	uint64_t pfn;

	act_watch(NULL, true);
	worker_do(parent, act_watch, NULL, true);
	worker_do(parent, act_range, NULL, kind);
	child = worker_fork(parent);
	worker_do(child, act_move_away, HOME, RANGE_PAGES);
	mappings_add(&all, NULL, twin_make(0));
	mappings_add(&all, parent, page_of(HOME, MID));
	mappings_add(&all, child, page_of(AWAY, MID));
	mappings_merge(&all);
	pfn = poison(&all);
	expect_told(NULL, all.at[0].addr);
	expect_told(parent, page_of(HOME, MID));
	expect_told(child, page_of(AWAY, MID));
	expect_out_of_reach(&all, pfn);
}

/* Stock sends the child its parent's address, and leaves the page mapped. */
static void told_moved_unscanned(enum range_kind kind)
{
	struct mappings all = { 0 };
	struct worker *child;
	uint64_t pfn;

	act_watch(NULL, true);
	child = pair_merged_unscanned(&all, kind, true);
	pfn = poison(&all);
	expect_told_once(NULL);	/* of either mapping */
	expect_told(child, page_of(AWAY, MID));
	expect_out_of_reach(&all, pfn);
}

KSM_FIXES_CASE(poison_told_moved_unscanned, told_moved_unscanned(PLAIN))
KSM_FIXES_CASE(poison_told_moved_unscanned_file, told_moved_unscanned(FILE_PAGES))

/*
 * An earlier copy is unchanged, and its owner, who did not ask, gets no signal.
 */
KSM_CASES(poison_leaves_copies)
{
	struct scene scene = scene_merged(kind, true);
	uint64_t pfn;

	worker_do(scene.child, act_watch, NULL, false);
	worker_do(scene.child, act_write, scene.page, OTHER);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
	EXPECT(!worker_do(scene.child, act_verify, scene.page, OTHER),
	       "the child's own copy is damaged");
}
