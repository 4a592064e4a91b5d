// SPDX-License-Identifier: GPL-2.0
/* The places of the merged page, and how it is merged. */
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ksm.h"

#define MERGE_PASSES	24u	/* smart scan may skip a page eight times */

void places_add(struct places *all, struct worker *who, char *addr)
{
	if (all->nr == MAX_PLACES)
		die("more than %d places: raise MAX_PLACES", MAX_PLACES);
	all->at[all->nr++] = (struct place){ who, addr };
}

void places_add_fork(struct places *all, struct worker *parent,
		     struct worker *who)
{
	size_t i, nr = all->nr;

	for (i = 0; i < nr; i++) {
		if (all->at[i].who == parent)
			places_add(all, who, all->at[i].addr);
	}
}

void places_remove(struct places *all, struct worker *who, char *addr)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		if (all->at[i].who == who && all->at[i].addr == addr) {
			all->at[i] = all->at[--all->nr];
			return;
		}
	}
	die("there is no place %p in process %d", addr, (int)crew_pid(who));
}

struct page_state place_state(const struct place *place)
{
	struct page_state state;

	pagemap_read_pid(crew_pid(place->who), place->addr, 1, &state);
	return state;
}

long place_do(const struct place *place, act *what, long arg)
{
	return crew_do(place->who, what, place->addr, arg);
}

struct places pair_make(enum range_kind kind)
{
	struct places all = { 0 };

	places_add(&all, NULL, page_of(range_make(kind), MID));
	places_add(&all, NULL, twin_make(0));
	return all;
}

struct places pair_merged(enum range_kind kind)
{
	struct places all = pair_make(kind);

	places_merge(&all);
	return all;
}

struct worker *pair_merged_unscanned(struct places *all, enum range_kind kind,
				     bool moved)
{
	char *range = range_make(kind);
	struct worker *child;

	places_add(all, NULL, twin_make_at(LOW_TWIN));
	places_add(all, NULL, page_of(range, MID));
	child = crew_fork(NULL);
	if (moved) {
		crew_do(child, act_move_away, range, RANGE_PAGES);
		range = AWAY;
	}
	ASSERT(!crew_do(child, act_unmergeable, LOW_TWIN, 1) &&
	       !crew_do(child, act_unmergeable, range, RANGE_PAGES),
	       "the child's memory cannot be made unmergeable");
	places_merge(all);
	places_add(all, child, page_of(range, MID));
	return child;
}

uint64_t places_merged(const struct places *all)
{
	struct page_state first = place_state(&all->at[0]), state;
	size_t i;

	if (!first.present)
		return 0;
	for (i = 1; i < all->nr; i++) {
		state = place_state(&all->at[i]);
		if (!state.present || state.pfn != first.pfn)
			return 0;
	}
	return first.pfn;
}

/* The order of forks decides the order of scans. So merge all to one page, */
void places_merge(const struct places *all)
{
	unsigned int passes;

	ksm_pass(1);
	for (passes = 1; !places_merged(all); passes++) {
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
