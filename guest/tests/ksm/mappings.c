// SPDX-License-Identifier: GPL-2.0
/* The mappings of the merged page, and how it is merged. */
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ksm.h"

#define MERGE_PASSES	40u	/* smart scan may skip a page 15 times, twice */

void mappings_add(struct mappings *all, struct worker *who, char *addr)
{
	if (all->nr == MAX_MAPPINGS)
		die("more than %d mappings: raise MAX_MAPPINGS", MAX_MAPPINGS);
	all->at[all->nr++] = (struct mapping){ who, addr };
}

void mappings_add_fork(struct mappings *all, struct worker *parent,
		       struct worker *who)
{
	size_t i, nr = all->nr;

	for (i = 0; i < nr; i++) {
		if (all->at[i].who == parent)
			mappings_add(all, who, all->at[i].addr);
	}
}

void mappings_remove(struct mappings *all, struct worker *who, char *addr)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		if (all->at[i].who == who && all->at[i].addr == addr) {
			all->at[i] = all->at[--all->nr];
			return;
		}
	}
	die("there is no mapping at %p in process %d", addr, (int)worker_pid(who));
}

struct page_state mapping_state(const struct mapping *mapping)
{
	struct page_state state;

	pagemap_read_pid(worker_pid(mapping->who), mapping->addr, 1, &state);
	return state;
}

long mapping_do(const struct mapping *mapping, act *what, long arg)
{
	return worker_do(mapping->who, what, mapping->addr, arg);
}

struct mappings pair_make(enum range_kind kind)
{
	struct mappings all = { 0 };

	mappings_add(&all, NULL, page_of(range_make(kind), MID));
	mappings_add(&all, NULL, twin_make(0));
	return all;
}

struct mappings pair_merged(enum range_kind kind)
{
	struct mappings all = pair_make(kind);

	mappings_merge(&all);
	return all;
}

struct worker *pair_merged_unscanned(struct mappings *all, enum range_kind kind,
				     bool moved)
{
	char *range = range_make(kind);
	struct worker *child;

	mappings_add(all, NULL, twin_make_at(LOW_TWIN));
	mappings_add(all, NULL, page_of(range, MID));
	child = worker_fork(NULL);
	if (moved) {
		worker_do(child, act_move_away, range, RANGE_PAGES);
		range = AWAY;
	}
	ASSERT(!worker_do(child, act_unmergeable, LOW_TWIN, 1) &&
	       !worker_do(child, act_unmergeable, range, RANGE_PAGES),
	       "the child's memory cannot be made unmergeable");
	mappings_merge(all);
	mappings_add(all, child, page_of(range, MID));
	return child;
}

uint64_t mappings_merged(const struct mappings *all)
{
	struct page_state first = mapping_state(&all->at[0]), state;
	size_t i;

	if (!first.present)
		return 0;
	for (i = 1; i < all->nr; i++) {
		state = mapping_state(&all->at[i]);
		if (!state.present || state.pfn != first.pfn)
			return 0;
	}
	return first.pfn;
}

/* The order of forks decides the order of scans. So merge all to one page, */
void mappings_merge(const struct mappings *all)
{
	unsigned int passes;

	ksm_pass(1);
	for (passes = 1; !mappings_merged(all); passes++) {
		if (passes == MERGE_PASSES)
			die("%zu pages did not merge in %u passes", all->nr,
			    passes);
		ksm_pass(1);
	}
	/* then let ksmd scan once more, so that it records every sharer. */
	ksm_pass(1);
}

int page_hold(char *addr)
{
	struct iovec page = { addr, PAGE_SIZE };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || vmsplice(ends[1], &page, 1, 0) < 0)
		die_errno("cannot hold the page at %p", addr);
	close(ends[1]);
	return ends[0];	/* the pipe and its reference live as long as this */
}

void page_let_go(int held)
{
	close(held);
}
