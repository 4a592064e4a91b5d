// SPDX-License-Identifier: GPL-2.0
/* Operations on the contents of parts of ranges. */
#include <errno.h>
#include <sys/mman.h>

#include "ops.h"
#include "page.h"
#include "system.h"

/* Operations that only drop pages drop few, so that most pages stay in use. */
#define FEW	32u

/*
 * Chooses a run, and takes its mutex and the locks of its pages. Returns false
 * if it has taken nothing.
 */
static bool take_run(struct actor *self, struct range *range, size_t most,
		     struct run *run)
{
	pthread_mutex_lock(&range->layout);
	*run = run_somewhere(self, range);
	if (run->count > most)
		run->count = most;
	if (!(run->state & SPECIAL)) {
		run->count = pages_take(range, run->first, run->count);
		if (run->count)
			return true;
	}
	pthread_mutex_unlock(&range->layout);
	return false;
}

/* Drops the pages of a run: they are zero from now on. */
static void drop(struct range *range, const struct run *run)
{
	int advice = range->type == SHMEM ? MADV_REMOVE : MADV_DONTNEED;

	pages_change(range, run->first, run->count);
	if (madvise(run->addr, run_bytes(run), advice))
		refused(range, run->first, range->type == SHMEM ?
			"MADV_REMOVE" : "MADV_DONTNEED");
	pages_zero(range, run->first, run->count);
	pages_changed(range, run->first, run->count);
}

bool do_drop(struct actor *self, struct range *range)
{
	struct run run;

	if (!take_run(self, range, FEW, &run))
		return false;
	drop(range, &run);
	pthread_mutex_unlock(&range->layout);
	if (one_in(self, 2))
		page_verify(range, run.first + below(self, run.count));
	pages_release(range, run.first, run.count);
	note(self, range, run.first, run.count, 0);
	return true;
}

/* Drops and writes the pages: large folios, if the run is as large as one. */
void run_refill(struct range *range, const struct run *run)
{
	size_t n;

	drop(range, run);
	for (n = run->first; n < run->first + run->count; n++)
		page_write(range, n, page_new_key(range, n));
	range_is_fresh(range, run->first, run->count);
}

/* Races with moves: some of these addresses may be unmapped. */
void run_page_out(struct range *range, size_t first, size_t count)
{
	struct run run = run_at(range, first, count);

	if (madvise(run.addr, run_bytes(&run), MADV_PAGEOUT) &&
	    errno != ENOMEM && errno != EINVAL)
		refused(range, first, "MADV_PAGEOUT");
}

void run_write_some(struct actor *self, struct range *range, size_t first,
		    size_t count)
{
	size_t n, page;

	for (n = 1 + below(self, 4); n; n--) {
		page = first + below(self, count);
		if (!page_take(range, page))
			continue;
		page_verify(range, page);
		page_write(range, page, page_new_key(range, page));
		page_release(range, page);
	}
}

/* The next operation on the same pages, before their folios are split. */
void run_follow_up(struct actor *self, struct range *range, size_t first,
		   size_t count)
{
	size_t steps;

	for (steps = below(self, 4); steps; steps--) {
		switch (below(self, 6)) {
		case 0:
		case 1:
			move_part(range, first, count);
			break;
		case 2:
		case 3:
			run_page_out(range, first, count);
			break;
		case 4:
			cgroup_reclaim("64K");
			break;
		case 5:
			run_write_some(self, range, first, count);
			break;
		}
	}
}

bool do_fill(struct actor *self, struct range *range)
{
	struct run run;

	if (!take_run(self, range, MAX_PAGES, &run))
		return false;
	run_refill(range, &run);
	pthread_mutex_unlock(&range->layout);
	pages_release(range, run.first, run.count);
	note(self, range, run.first, run.count, 0);
	run_follow_up(self, range, run.first, run.count);
	return true;
}

bool do_page_out(struct actor *self, struct range *range)
{
	struct run run = run_somewhere(self, range);

	run_page_out(range, run.first, run.count);
	note(self, range, run.first, run.count, 0);
	return true;
}

/* Writes some or all of the pages again. */
static void rewrite(struct actor *self, struct range *range,
		    const struct run *run)
{
	size_t n, page;

	if (one_in(self, 4)) {
		for (page = run->first; page < run->first + run->count; page++)
			page_write(range, page, page_new_key(range, page));
		return;
	}
	for (n = below(self, 5); n; n--) {
		page = run->first + below(self, run->count);
		page_write(range, page, page_new_key(range, page));
	}
}

/*
 * MADV_FREE. Not while a child may share the pages, and not for pages that KSM
 * may merge: docs/dev/soak.md says why. Needs the mutex and the pages' locks.
 */
bool run_free(struct actor *self, struct range *range, const struct run *run)
{
	if (us.depth || us.children || range->mergeable)
		return false;
	pages_change(range, run->first, run->count);
	if (madvise(run->addr, run_bytes(run), MADV_FREE))
		refused(range, run->first, "MADV_FREE");
	pages_lazy(range, run->first, run->count);
	pages_changed(range, run->first, run->count);
	rewrite(self, range, run);
	return true;
}

bool do_lazyfree(struct actor *self, struct range *range)
{
	struct run run;
	bool done;

	if (us.depth || !take_run(self, range, MAX_PAGES, &run))
		return false;
	if (!us.children && !range->mergeable && one_in(self, 2))
		run_refill(range, &run);
	done = run_free(self, range, &run);
	pthread_mutex_unlock(&range->layout);
	pages_release(range, run.first, run.count);
	if (!done)
		return false;
	note(self, range, run.first, run.count, 0);
	run_follow_up(self, range, run.first, run.count);
	return true;
}

/* From the LRU lists of the cgroup, pages of any process. */
bool do_reclaim(struct actor *self, struct range *range)
{
	static const char *const amounts[] = { "64K", "256K", "1M" };

	cgroup_reclaim(amounts[below(self, ARRAY_SIZE(amounts))]);
	note(self, range, 0, 0, 0);
	return true;
}

/* munmap() and mmap(). Contents that only this VMA had are gone. */
bool do_map_again(struct actor *self, struct range *range)
{
	struct run run;

	if (!take_run(self, range, FEW, &run))
		return false;
	pages_change(range, run.first, run.count);
	where_change(range, run.first, run.count, MOVING, 0);
	if (munmap(run.addr, run_bytes(&run)))
		refused(range, run.first, "munmap");
	range_map(range, &run);
	where_change(range, run.first, run.count, 0, MOVING);
	if (range->type != SHMEM)
		pages_zero(range, run.first, run.count);
	pages_changed(range, run.first, run.count);
	pthread_mutex_unlock(&range->layout);
	pages_release(range, run.first, run.count);
	note(self, range, run.first, run.count, 0);
	return true;
}

static bool all_plain(const struct range *range)
{
	size_t n;

	for (n = 0; n < range->pages; n++) {
		if (where(range, n) & SPECIAL)
			return false;
	}
	return true;
}

/* The whole range again at its first home, in one VMA. */
static void renew(struct range *range)
{
	struct run all;

	pages_change(range, 0, range->pages);
	where_change(range, 0, range->pages, MOVING, 0);
	if (munmap(range->home[0], range->pages * PAGE_SIZE) ||
	    munmap(range->home[1], range->pages * PAGE_SIZE))
		refused(range, 0, "munmap");
	where_change(range, 0, range->pages, 0, AWAY);
	all = run_at(range, 0, range->pages);
	range_map(range, &all);
	where_change(range, 0, range->pages, 0, MOVING);
	pages_zero(range, 0, range->pages);
	pages_changed(range, 0, range->pages);
}

bool do_renew(struct actor *self, struct range *range)
{
	size_t taken = 0, n;
	bool done = false;

	pthread_mutex_lock(&range->layout);
	if (all_plain(range)) {
		taken = pages_take(range, 0, range->pages);
		done = taken == range->pages;
	}
	if (done)
		renew(range);
	pthread_mutex_unlock(&range->layout);
	/* The first write may allocate a folio of the size of a page table. */
	for (n = 0; done && n < range->pages; n += 1 + below(self, 16))
		page_write(range, n, page_new_key(range, n));
	pages_release(range, 0, taken);
	if (done) {
		range_is_fresh(range, 0, range->pages);
		note(self, range, 0, range->pages, 0);
		run_follow_up(self, range, 0, range->pages);
	}
	return done;
}

