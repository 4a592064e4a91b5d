// SPDX-License-Identifier: GPL-2.0
/* Operations on parts of ranges. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "ops.h"
#include "pagemap.h"

/* A run that is not what most operations can be done to. */
#define SPECIAL	(SEALED | LOCKED | ABSENT)

static size_t bytes(const struct run *run)
{
	return run->count * PAGE_SIZE;
}

/* Where pages are given up for nothing, few, lest most of them be empty. */
#define FEW	32u

/*
 * Choose a run, and take its mutex and the locks of its pages. False: nothing is
 * taken.
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

/* Give the pages of a run up: they are zero from now on. */
static void drop(struct range *range, const struct run *run)
{
	int advice = range->type == SHMEM ? MADV_REMOVE : MADV_DONTNEED;

	pages_change(range, run->first, run->count);
	if (madvise(run->addr, bytes(run), advice))
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

/* Drop and write anew: large folios, where the run is as large as one. */
bool do_fill(struct actor *self, struct range *range)
{
	struct run run;
	size_t n;

	if (!take_run(self, range, MAX_PAGES, &run))
		return false;
	drop(range, &run);
	pthread_mutex_unlock(&range->layout);
	for (n = run.first; n < run.first + run.count; n++) {
		page_write(range, n, page_new_key(range, n));
		page_release(range, n);
	}
	range_is_fresh(range, run.first, run.count);
	note(self, range, run.first, run.count, 0);
	return true;
}

/* Races with moves: then there is nothing at some of these addresses. */
static void page_out_run(struct range *range, const struct run *run)
{
	if (madvise(run->addr, bytes(run), MADV_PAGEOUT) && errno != ENOMEM &&
	    errno != EINVAL)
		refused(range, run->first, "MADV_PAGEOUT");
}

bool do_page_out(struct actor *self, struct range *range)
{
	struct run run = run_somewhere(self, range);

	page_out_run(range, &run);
	note(self, range, run.first, run.count, 0);
	return true;
}

/*
 * MADV_FREE. Not while a child may share the pages, and not what KSM may share
 * with anyone: docs/soak.md says why.
 */
bool do_lazyfree(struct actor *self, struct range *range)
{
	struct run run;
	size_t n;

	if (us.depth || !take_run(self, range, MAX_PAGES, &run))
		return false;
	if (range->mergeable || us.children) {
		pthread_mutex_unlock(&range->layout);
		pages_release(range, run.first, run.count);
		return false;
	}
	pages_change(range, run.first, run.count);
	if (madvise(run.addr, bytes(&run), MADV_FREE))
		refused(range, run.first, "MADV_FREE");
	pages_lazy(range, run.first, run.count);
	pages_changed(range, run.first, run.count);
	pthread_mutex_unlock(&range->layout);
	/* Some are written again. */
	for (n = one_in(self, 2) ? below(self, 4) : 0; n; n--) {
		size_t page = run.first + below(self, run.count);

		page_write(range, page, page_new_key(range, page));
	}
	pages_release(range, run.first, run.count);
	if (!one_in(self, 3))
		page_out_run(range, &run);
	note(self, range, run.first, run.count, 0);
	return true;
}

/* From the LRU lists of the cgroup, of whatever process. */
bool do_reclaim(struct actor *self, struct range *range)
{
	static const char *const amounts[] = { "64K", "256K", "1M" };

	cgroup_reclaim(amounts[below(self, ARRAY_SIZE(amounts))]);
	note(self, range, 0, 0, 0);
	return true;
}

/* munmap() and mmap(). What only this mapping had is gone. */
bool do_map_again(struct actor *self, struct range *range)
{
	struct run run;

	if (!take_run(self, range, FEW, &run))
		return false;
	pages_change(range, run.first, run.count);
	where_change(range, run.first, run.count, MOVING, 0);
	if (munmap(run.addr, bytes(&run)))
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

/* The whole range again at its first home, in one mapping. */
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
	/* The first write may bring in a folio of the size of a table. */
	for (n = 0; done && n < range->pages; n += 1 + below(self, 16))
		page_write(range, n, page_new_key(range, n));
	pages_release(range, 0, taken);
	if (done) {
		range_is_fresh(range, 0, range->pages);
		note(self, range, 0, range->pages, 0);
	}
	return done;
}

/* All of it to this protection, wherever its parts are now. */
static void protect(struct range *range, size_t first, size_t count, int prot)
{
	struct run run;

	for (; count; first += run.count, count -= run.count) {
		run = run_at(range, first, count);
		if (mprotect(run.addr, bytes(&run), prot))
			refused(range, first, "mprotect");
	}
}

static void seal(struct range *range, size_t first, size_t count)
{
	where_change(range, first, count, SEALING, 0);
	protect(range, first, count, PROT_READ);
	where_change(range, first, count, SEALED, SEALING);
}

static void unseal(struct range *range, size_t first, size_t count)
{
	where_change(range, first, count, SEALING, SEALED);
	protect(range, first, count, PROT_READ | PROT_WRITE);
	where_change(range, first, count, 0, SEALING);
}

/* Some of the pages: they can be read, and not written to. */
static void try_sealed(struct actor *self, struct range *range,
		       const struct run *run)
{
	size_t n, page;

	for (n = 1 + below(self, 4); n; n--) {
		page = run->first + below(self, run->count);
		if (!page_take(range, page))
			continue;
		page_verify(range, page);
		page_poke(range, page);
		page_release(range, page);
	}
}

bool do_protect(struct actor *self, struct range *range)
{
	struct run run;
	bool plain;

	pthread_mutex_lock(&range->layout);
	run = run_somewhere(self, range);
	plain = !(run.state & SPECIAL);
	if (plain)
		seal(range, run.first, run.count);
	pthread_mutex_unlock(&range->layout);
	if (!plain)
		return false;
	try_sealed(self, range, &run);
	pthread_mutex_lock(&range->layout);
	unseal(range, run.first, run.count);
	pthread_mutex_unlock(&range->layout);
	note(self, range, run.first, run.count, 0);
	return true;
}

/*
 * Migration takes a page away for a moment, too. What is shared others may have
 * dropped.
 */
static void expect_present(struct range *range, const struct run *run)
{
	unsigned int tries = 0;

	if (range->type == SHMEM)
		return;
	while (pagemap_present(run->addr, run->count) != run->count) {
		if (++tries == 200) {
			violation(range, run->first, "%zu of %zu locked pages "
				  "are not there", run->count -
				  pagemap_present(run->addr, run->count),
				  run->count);
			return;
		}
		sleep_ms(1);
	}
}

void range_unlock_pages(struct range *range)
{
	size_t first = range->locked, left = range->nr_locked;
	struct run run;

	for (; left; first += run.count, left -= run.count) {
		run = run_at(range, first, left);
		expect_present(range, &run);
		if (munlock(run.addr, bytes(&run)))
			refused(range, first, "munlock");
		where_change(range, run.first, run.count, 0, LOCKED);
	}
	range->nr_locked = 0;
}

static bool lock_pages(struct actor *self, struct range *range)
{
	struct run run = run_at(range, below(self, range->pages),
				1 + below(self, 24));

	if (run.state & SPECIAL)
		return false;
	if (mlock(run.addr, bytes(&run))) {
		/* Short of memory it is locked, but not all there. */
		if (munlock(run.addr, bytes(&run)))
			refused(range, run.first, "munlock");
		return false;
	}
	where_change(range, run.first, run.count, LOCKED, 0);
	range->locked = run.first;
	range->nr_locked = run.count;
	return true;
}

/* Each range has one part that is locked, now and then. */
bool do_lock(struct actor *self, struct range *range)
{
	bool done = true;

	pthread_mutex_lock(&range->layout);
	if (range->nr_locked)
		range_unlock_pages(range);
	else
		done = lock_pages(self, range);
	pthread_mutex_unlock(&range->layout);
	if (done)
		note(self, range, range->locked, range->nr_locked, 0);
	return done;
}

bool do_mergeable(struct actor *self, struct range *range)
{
	int advice;
	size_t n;
	struct run run;

	pthread_mutex_lock(&range->layout);
	advice = range->mergeable ? MADV_UNMERGEABLE : MADV_MERGEABLE;
	for (n = 0; n < range->pages; n += run.count) {
		run = run_at(range, n, range->pages);
		if (!(run.state & ABSENT) &&
		    madvise(run.addr, bytes(&run), advice))
			refused(range, n, range->mergeable ?
				"MADV_UNMERGEABLE" : "MADV_MERGEABLE");
	}
	range->mergeable = !range->mergeable;
	pthread_mutex_unlock(&range->layout);
	note(self, range, 0, range->pages, range->mergeable);
	return true;
}
