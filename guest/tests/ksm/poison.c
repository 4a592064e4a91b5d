// SPDX-License-Identifier: GPL-2.0
/*
 * Memory failure on a merged page: it is unmapped everywhere, and the processes
 * that asked for it (PR_MCE_KILL_EARLY) are told the address where they had it.
 */
#include "bus.h"

static long act_range(char *addr __attribute__((unused)), long kind)
{
	range_make(kind);
	return 0;
}

/* A worker with the range, its child, and us with the twin: merged. */
struct scene {
	struct places all;
	struct worker *parent;
	struct worker *child;
	char *page;
};

static struct scene scene_merged(enum range_kind kind, bool early)
{
	struct scene scene = {
		.parent = crew_fork(NULL), .page = page_of(HOME, MID),
	};

	act_watch(NULL, early);
	crew_do(scene.parent, act_watch, NULL, early);
	crew_do(scene.parent, act_range, NULL, kind);
	places_add(&scene.all, NULL, twin_make(0));
	places_add(&scene.all, scene.parent, scene.page);
	places_merge(&scene.all);
	scene.child = crew_fork(scene.parent);
	return scene;
}

KSM_CASES(poison_told)
{
	struct scene scene = scene_merged(kind, true);
	uint64_t pfn;

	places_add(&scene.all, scene.child, scene.page);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_told(scene.child, scene.page);
	expect_out_of_reach(&scene.all, pfn);
}

KSM_CASES(poison_told_scanned)
{
	struct scene scene = scene_merged(kind, true);
	uint64_t pfn;

	places_add(&scene.all, scene.child, scene.page);
	ksm_pass(2);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_told(scene.child, scene.page);
	expect_out_of_reach(&scene.all, pfn);
}

/* Who has not asked is told when it reads, and not before. */
KSM_CASES(poison_late)
{
	struct scene scene = scene_merged(kind, false);
	uint64_t pfn;

	places_add(&scene.all, scene.child, scene.page);
	pfn = poison(&scene.all);
	expect_not_told(NULL);
	expect_not_told(scene.parent);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
}

/* Equal content is no reason, only the page itself is. */
KSM_CASES(poison_spares_strangers)
{
	struct worker *stranger = crew_fork(NULL);
	struct scene scene;
	uint64_t pfn;

	crew_do(stranger, act_watch, NULL, true);
	crew_do(stranger, act_range, NULL, kind);
	crew_do(stranger, act_unmergeable, HOME, RANGE_PAGES);
	scene = scene_merged(kind, true);
	crew_do(scene.child, act_unmap, HOME, RANGE_PAGES);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_not_told(stranger);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
	EXPECT(!crew_do(stranger, act_verify, scene.page, SAME),
	       "the stranger's page is damaged");
}

/*
 * The child has mappings in the same anon_vma, and none over the page. Stock
 * tells it of a page it does not have.
 */
static void spares_without_mapping(enum range_kind kind)
{
	struct scene scene;
	uint64_t pfn;

	ksm_begin();
	scene = scene_merged(kind, true);
	crew_do(scene.child, act_unmap, scene.page, 1);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
}

QUIRE_CASE(ksm, stock_fails_poison_spares_unmapped)
{
	spares_without_mapping(PLAIN);
}

QUIRE_CASE(ksm, stock_fails_poison_spares_unmapped_moved)
{
	spares_without_mapping(MOVED);
}

QUIRE_CASE(ksm, stock_fails_poison_spares_unmapped_file)
{
	spares_without_mapping(FILE_PAGES);
}

static long act_move_away(char *addr, long pages)
{
	range_move(addr, pages, AWAY);
	return 0;
}

/* A child that has moved its range is told its own address. */
KSM_CASES(poison_told_moved_child)
{
	struct places all = { 0 };
	struct worker *parent = crew_fork(NULL), *child;
	uint64_t pfn;

	act_watch(NULL, true);
	crew_do(parent, act_watch, NULL, true);
	crew_do(parent, act_range, NULL, kind);
	child = crew_fork(parent);
	crew_do(child, act_move_away, HOME, RANGE_PAGES);
	places_add(&all, NULL, twin_make(0));
	places_add(&all, parent, page_of(HOME, MID));
	places_add(&all, child, page_of(AWAY, MID));
	places_merge(&all);
	pfn = poison(&all);
	expect_told(NULL, all.at[0].addr);
	expect_told(parent, page_of(HOME, MID));
	expect_told(child, page_of(AWAY, MID));
	expect_out_of_reach(&all, pfn);
}

/*
 * The same with a child ksmd has not scanned, which shares the page that became
 * the merged one. Stock tells it the parent's address, and leaves it mapped.
 */
static void told_moved_unscanned(enum range_kind kind)
{
	struct places all = { 0 };
	struct worker *child;
	uint64_t pfn;

	ksm_begin();
	act_watch(NULL, true);
	places_add(&all, NULL, twin_make_at(LOW_TWIN));
	places_add(&all, NULL, page_of(range_make(kind), MID));
	child = crew_fork(NULL);
	crew_do(child, act_move_away, HOME, RANGE_PAGES);
	ASSERT(!crew_do(child, act_unmergeable, LOW_TWIN, 1) &&
	       !crew_do(child, act_unmergeable, AWAY, RANGE_PAGES),
	       "the child's memory cannot be made unmergeable");
	places_merge(&all);
	places_add(&all, child, page_of(AWAY, MID));
	pfn = poison(&all);
	expect_told_once(NULL);	/* of either place */
	expect_told(child, page_of(AWAY, MID));
	expect_out_of_reach(&all, pfn);
}

QUIRE_CASE(ksm, stock_fails_poison_told_moved_unscanned)
{
	told_moved_unscanned(PLAIN);
}

QUIRE_CASE(ksm, stock_fails_poison_told_moved_unscanned_file)
{
	told_moved_unscanned(FILE_PAGES);
}

/* A copy made before stays as it is, and its owner, who asked for nothing. */
KSM_CASES(poison_leaves_copies)
{
	struct scene scene = scene_merged(kind, true);
	uint64_t pfn;

	crew_do(scene.child, act_watch, NULL, false);
	crew_do(scene.child, act_write, scene.page, OTHER);
	pfn = poison(&scene.all);
	expect_told(NULL, scene.all.at[0].addr);
	expect_told(scene.parent, scene.page);
	expect_not_told(scene.child);
	expect_out_of_reach(&scene.all, pfn);
	EXPECT(!crew_do(scene.child, act_verify, scene.page, OTHER),
	       "the child's own copy is damaged");
}
