// SPDX-License-Identifier: GPL-2.0
/* Operations on the protection and locking of parts of a range. */
#include <sys/mman.h>

#include "base/clock.h"
#include "ops.h"
#include "page.h"
#include "proc/pagemap.h"

/* Gives all of it this protection, wherever its parts are now. */
static void protect(struct range *range, size_t first, size_t count, int prot)
{
	struct run run;

	for (; count; first += run.count, count -= run.count) {
		run = run_at(range, first, count);
		if (mprotect(run.addr, run_bytes(&run), prot))
			refused(range, first, "mprotect");
	}
}

bool run_seal(struct range *range, size_t first, size_t count)
{
	bool plain;

	pthread_mutex_lock(&range->layout);
	plain = run_at(range, first, count).count == count &&
		!(where(range, first) & SPECIAL);
	if (plain) {
		where_change(range, first, count, SEALING, 0);
		protect(range, first, count, PROT_READ);
		where_change(range, first, count, SEALED, SEALING);
	}
	pthread_mutex_unlock(&range->layout);
	return plain;
}

void run_unseal(struct range *range, size_t first, size_t count)
{
	pthread_mutex_lock(&range->layout);
	where_change(range, first, count, SEALING, SEALED);
	protect(range, first, count, PROT_READ | PROT_WRITE);
	where_change(range, first, count, 0, SEALING);
	pthread_mutex_unlock(&range->layout);
}

/* Some of the pages are read-only. */
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
	struct run run = run_somewhere(self, range);

	if (!run_seal(range, run.first, run.count))
		return false;
	try_sealed(self, range, &run);
	run_unseal(range, run.first, run.count);
	note(self, range, run.first, run.count, 0);
	return true;
}

/*
 * Migration also unmaps a page for a moment. Other processes may have dropped
 * shared pages.
 */
static void expect_present(struct range *range, const struct run *run)
{
	unsigned int tries = 0;

	if (range->type == SHMEM)
		return;
	while (pagemap_present(run->addr, run->count) != run->count) {
		if (++tries == 200) {
			violation(range, run->first, "%zu of %zu locked pages "
				  "are not present", run->count -
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
		if (munlock(run.addr, run_bytes(&run)))
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
	if (mlock(run.addr, run_bytes(&run))) {
		/* Without free memory it is locked, but not all present. */
		if (munlock(run.addr, run_bytes(&run)))
			refused(range, run.first, "munlock");
		return false;
	}
	where_change(range, run.first, run.count, LOCKED, 0);
	range->locked = run.first;
	range->nr_locked = run.count;
	return true;
}

/* Each range has one part that is locked some of the time. */
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
		    madvise(run.addr, run_bytes(&run), advice))
			refused(range, n, range->mergeable ?
				"MADV_UNMERGEABLE" : "MADV_MERGEABLE");
	}
	range->mergeable = !range->mergeable;
	pthread_mutex_unlock(&range->layout);
	note(self, range, 0, range->pages, range->mergeable);
	return true;
}
