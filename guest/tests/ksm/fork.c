// SPDX-License-Identifier: GPL-2.0
/* Children: forked before and after the merge, moved, split, exited. */
#include <errno.h>
#include <sys/mman.h>

#include "ksm.h"

/* ksmd has scanned parent and child, each at its own place. */
KSM_CASES(child_before_merge)
{
	struct mappings all = pair_make(kind);

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	mappings_merge(&all);
	expect_found(&all);
}

KSM_CASES(child_before_merge_unscanned)
{
	struct mappings all = { 0 };

	pair_merged_unscanned(&all, kind, false);
	expect_found(&all);
}

/* Found through the parent's rmap_item only. */
KSM_CASES(child_after_merge)
{
	struct mappings all = pair_merged(kind);

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	expect_found(&all);
}

/* Several VMAs have the same index; one rmap_item must find them all. */
KSM_CASES(three_children_after_merge)
{
	struct mappings all = pair_merged(kind);
	unsigned int n;

	for (n = 0; n < 3; n++)
		mappings_add_fork(&all, NULL, worker_fork(NULL));
	expect_found(&all);
}

KSM_CASES(child_after_merge_scanned)
{
	struct mappings all = pair_merged(kind);

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	ksm_pass(2);
	expect_found(&all);
}

KSM_CASES(grandchild)
{
	struct mappings all = pair_make(kind);
	struct worker *child, *grandchild;

	child = worker_fork(NULL);
	mappings_add_fork(&all, NULL, child);
	mappings_merge(&all);
	grandchild = worker_fork(child);
	mappings_add_fork(&all, child, grandchild);
	expect_found(&all);
}

KSM_CASES(grandchild_scanned)
{
	struct mappings all = pair_merged(kind);
	struct worker *child = worker_fork(NULL), *grandchild;

	mappings_add_fork(&all, NULL, child);
	grandchild = worker_fork(child);
	mappings_add_fork(&all, child, grandchild);
	ksm_pass(2);
	expect_found(&all);
}

/*
 * A worker has the range and this process the twin; forks of the worker share
 * it.
 */
static struct worker *worker_with_range(struct mappings *all,
					enum range_kind kind)
{
	struct worker *who = worker_fork(NULL);

	worker_do(who, act_range, NULL, kind);
	mappings_add(all, who, page_of(HOME, MID));
	mappings_add(all, NULL, twin_make(0));
	mappings_merge(all);
	return who;
}

/* The process that ksmd scanned has exited; its child maps the page. */
static void orphan(enum range_kind kind, unsigned int passes)
{
	struct mappings all = { 0 };
	struct worker *parent = worker_with_range(&all, kind), *child;
	char *page = page_of(HOME, MID);

	child = worker_fork(parent);
	mappings_add(&all, child, page);
	worker_end(parent);
	mappings_remove(&all, parent, page);
	if (passes)
		ksm_pass(passes);
	expect_found(&all);
}

KSM_CASES(orphan_unscanned) { orphan(kind, 0); }
KSM_CASES(orphan_scanned) { orphan(kind, 2); }

/* The child has exited. A walk must neither find it nor fail because of it. */
KSM_CASES(child_ended)
{
	struct mappings all = { 0 };
	struct worker *parent = worker_with_range(&all, kind), *child;

	child = worker_fork(parent);
	ksm_pass(2);
	worker_end(child);
	expect_found(&all);
}

/* The child's copy has another address and the same index. */
KSM_CASES(child_moved)
{
	struct mappings all = pair_make(kind);
	struct worker *child = worker_fork(NULL);

	worker_do(child, act_move_away, HOME, RANGE_PAGES);
	mappings_add(&all, child, page_of(AWAY, MID));
	mappings_add(&all, child, all.at[1].addr);
	mappings_merge(&all);
	expect_found(&all);
}

/* Stock looks for the child's page at the parent's address. */
static void child_moved_unscanned(enum range_kind kind)
{
	struct mappings all = { 0 };

	pair_merged_unscanned(&all, kind, true);
	expect_found(&all);
}

KSM_FIXES_CASE(child_moved_unscanned, child_moved_unscanned(PLAIN))
KSM_FIXES_CASE(child_moved_unscanned_file, child_moved_unscanned(FILE_PAGES))

static long act_cut(char *addr, long pages)
{
	long n;

	for (n = 0; n < pages; n += 2) {
		if (mprotect(page_of(addr, n), PAGE_SIZE, PROT_READ))
			return errno;
	}
	return 0;
}

/* Every page of the child's range is a VMA of its own. */
KSM_CASES(child_cut)
{
	struct mappings all = pair_merged(kind);
	struct worker *child = worker_fork(NULL);

	mappings_add_fork(&all, NULL, child);
	ASSERT(!worker_do(child, act_cut, HOME, RANGE_PAGES),
	       "cannot split the child's range");
	expect_reached(&all);
	ksm_pass(2);
	expect_found(&all);
}

/* Eight processes, each forked from the one before. */
QUIRE_CASE(ksm, eight_generations)
{
	struct mappings all;
	struct worker *last = NULL, *next;
	unsigned int n;

	ksm_begin();
	all = pair_merged(MOVED);
	for (n = 0; n < 8; n++, last = next) {
		next = worker_fork(last);
		mappings_add_fork(&all, last, next);
	}
	expect_reached(&all);
	ksm_pass(2);
	expect_found(&all);
}
