// SPDX-License-Identifier: GPL-2.0
/*
 * Write protection by userfaultfd in its asynchronous mode: the kernel itself
 * removes it when a page is written to. Reclaim and swap must neither lose nor
 * add protection. KSM does lose it, also on stock, so ranges that KSM may scan
 * are excluded.
 */
#include <linux/userfaultfd.h>
#include <sys/mman.h>

#include "kernel/uffd.h"
#include "ops.h"
#include "page.h"
#include "proc/pagemap.h"

#define MOST	64u	/* pages */

static void expect_watched(struct range *range, const struct run *run,
			   const bool *written)
{
	struct page_state state[MOST];
	size_t n;

	pagemap_read(run->addr, run->count, state);
	for (n = 0; n < run->count; n++) {
		if (!page_populated(range, run->first + n) ||
		    state[n].uffd_wp == !written[n])
			continue;
		violation(range, run->first + n, "%s write-protected by "
			  "userfaultfd", written[n] ? "written to, but" :
			  "no longer");
	}
}

/* The new place is not registered, so moved pages are not protected. */
static size_t move_away(struct range *range, const struct run *run)
{
	struct page_state state[MOST];
	size_t n, moved = move_run(range, run, 0);

	pagemap_read(place(range, run->state ^ AWAY, run->first), moved, state);
	for (n = 0; n < moved; n++) {
		if (state[n].uffd_wp)
			violation(range, run->first + n, "still write-protected "
				  "by userfaultfd after a move");
	}
	return moved;
}

static void watch(struct actor *self, struct range *range,
		  const struct run *run)
{
	bool written[MOST] = { false };
	size_t n, page, bytes = run->count * PAGE_SIZE, len = bytes;

	uffd_register_wp(us.uffd, run->addr, len);
	uffd_writeprotect(us.uffd, run->addr, len, true);
	if (one_in(self, 2))
		madvise(run->addr, len, MADV_PAGEOUT);
	expect_watched(range, run, written);
	for (n = below(self, 4); n; n--) {
		page = below(self, run->count);
		if (!page_populated(range, run->first + page))
			continue;
		page_write(range, run->first + page,
			   page_new_key(range, run->first + page));
		written[page] = true;
	}
	if (one_in(self, 2))
		madvise(run->addr, len, MADV_PAGEOUT);
	expect_watched(range, run, written);
	if (one_in(self, 3))
		len -= move_away(range, run) * PAGE_SIZE;
	if (len)
		uffd_unregister(us.uffd, run->addr + bytes - len, len);
}

bool do_watch(struct actor *self, struct range *range)
{
	struct run run;
	bool done = false;

	if (us.uffd < 0)
		return false;
	pthread_mutex_lock(&range->layout);
	run = run_somewhere(self, range);
	if (!(run.state & SPECIAL) && !range->mergeable) {
		run.count = pages_take(range, run.first,
				       run.count < MOST ? run.count : MOST);
		done = run.count;
		if (done)
			watch(self, range, &run);
		pages_release(range, run.first, run.count);
	}
	pthread_mutex_unlock(&range->layout);
	if (done)
		note(self, range, run.first, run.count, 0);
	return done;
}
