// SPDX-License-Identifier: GPL-2.0
/* Moves of parts of ranges from one home to the other. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "memory/probe.h"
#include "ops.h"
#include "page.h"

#define WARM	4u

/*
 * Moves as much of a run as is in one VMA, because mremap() takes no more;
 * equal VMAs may still not be merged. Returns the number of pages.
 */
static size_t move_some(struct range *range, const struct run *run, int flags)
{
	char *to = place(range, run->state ^ AWAY, run->first);
	size_t count;

	flags |= MREMAP_MAYMOVE | MREMAP_FIXED;
	for (count = run->count; count; count /= 2) {
		if (mremap(run->addr, count * PAGE_SIZE, count * PAGE_SIZE,
			   flags, to) == to)
			return count;
		if (errno != EFAULT) {
			refused(range, run->first, "mremap");
			return 0;
		}
	}
	errno = EFAULT;
	refused(range, run->first, "mremap of one page");
	return 0;
}

/* Loads a few pages of the run into the TLB of this CPU. */
static void warm(const struct run *run)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < run->count && n < WARM; n++)
		probe_read(run->addr + n * PAGE_SIZE, &word);
}

size_t move_run(struct range *range, const struct run *run, int flags)
{
	size_t moved;

	warm(run);
	where_change(range, run->first, run->count, MOVING, 0);
	moved = move_some(range, run, flags);
	where_change(range, run->first, moved, ~run->state & AWAY,
		     MOVING | (run->state & AWAY));
	where_change(range, run->first + moved, run->count - moved, 0, MOVING);
	return moved;
}

static void expect_left(struct range *range, const struct run *run,
			size_t moved)
{
	size_t n;

	for (n = 0; n < moved && n < WARM; n++)
		page_expect_nowhere_else(range, run->first + n);
}

/* Needs the range's mutex. */
static size_t move_checked(struct range *range, const struct run *run)
{
	size_t moved = 0;

	if (!(run->state & ABSENT))
		moved = move_run(range, run, 0);
	expect_left(range, run, moved);
	return moved;
}

void move_part(struct range *range, size_t first, size_t count)
{
	struct run run;

	pthread_mutex_lock(&range->layout);
	run = run_at(range, first, count);
	move_checked(range, &run);
	pthread_mutex_unlock(&range->layout);
}

bool do_move(struct actor *self, struct range *range)
{
	struct run run;
	size_t moved;

	pthread_mutex_lock(&range->layout);
	run = one_in(self, 3) ? run_at(range, 0, range->pages) :
				run_somewhere(self, range);
	moved = move_checked(range, &run);
	pthread_mutex_unlock(&range->layout);
	if (moved)
		note(self, range, run.first, moved, run.state);
	return moved;
}

/* The old VMA, which stays mapped, is empty. */
static void drop_old(struct range *range, const struct run *run, size_t moved)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < moved && n < WARM; n++) {
		int sig = probe_read(run->addr + n * PAGE_SIZE, &word);

		if (sig || word)
			violation(range, run->first + n, "the old place reads "
				  "%#llx, signal %d; it must read 0",
				  (unsigned long long)word, sig);
	}
	if (munmap(run->addr, moved * PAGE_SIZE))
		refused(range, run->first, "munmap");
}

/*
 * MREMAP_DONTUNMAP. A thread that still uses the old place would find another
 * page there, so no other thread may be using these pages.
 */
bool do_move_keep(struct actor *self, struct range *range)
{
	struct run run;
	size_t moved = 0;

	pthread_mutex_lock(&range->layout);
	run = run_somewhere(self, range);
	if (!(run.state & SPECIAL)) {
		run.count = pages_take(range, run.first, run.count);
		if (run.count)
			moved = move_run(range, &run, MREMAP_DONTUNMAP);
		if (moved)
			drop_old(range, &run, moved);
		expect_left(range, &run, moved);
		pages_release(range, run.first, run.count);
	}
	pthread_mutex_unlock(&range->layout);
	if (moved)
		note(self, range, run.first, moved, run.state);
	return moved;
}
