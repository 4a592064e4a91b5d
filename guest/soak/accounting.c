// SPDX-License-Identifier: GPL-2.0
/*
 * From time to time all threads rest. All memory of the workers can then be
 * swapped out, because no thread uses it. A page that cannot be swapped out has
 * an extra reference. The pages are counted and compared with the kernel's own
 * counters, then read back.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "kernel/swap.h"
#include "page.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "range.h"
#include "report/results.h"
#include "soak.h"
#include "system.h"

#define WAIT_MS		5u
#define PATIENCE_MS	300000u
#define ROUNDS		4u
/* Pages of a worker that reclaim may miss: they are in per-CPU lists. */
#define OVERLOOKED	32u
/* Tolerance: per-CPU parts of counters, and memory outside the ranges. */
#define SLACK_KIB	(2048 * PAGE_SCALE)

static void count_page(struct account *count, struct range *range, size_t page)
{
	struct page_state is;

	if (range->type == SHMEM)
		return;
	is = pagemap_page(place(range, where(range, page), page));
	count->swapped += is.swapped;
	if (!page_populated(range, page))
		return;
	count->populated++;
	count->resident += is.present;
	if (!is.present && !is.swapped)
		violation(range, page, "no page and no swap entry");
}

static void expect_near(const char *what, unsigned long is,
			unsigned long expected)
{
	unsigned long far = is > expected ? is - expected : expected - is;

	if (far > SLACK_KIB)
		violation(NULL, -1, "%s is %lu KiB, expected about %lu", what,
			  is, expected);
}

static void expect_counters(const struct account *count)
{
	expect_near("RssAnon", status_kib("RssAnon"), count->resident * PAGE_KIB);
	expect_near("VmSwap", status_kib("VmSwap"), count->swapped * PAGE_KIB);
}

void account_take(void)
{
	struct account *count = &common->account[us.number];
	size_t i, n;

	memset(count, 0, sizeof(*count));
	for (i = 0; i < NR_RANGES; i++) {
		for (n = 0; n < us.range[i].pages; n++)
			count_page(count, &us.range[i], n);
	}
	expect_counters(count);
	for (i = 0; i < NR_RANGES; i++) {
		for (n = 0; n < us.range[i].pages; n++) {
			/*
			 * The shared range is counted by the first worker that
			 * gets to it.
			 */
			if (!page_take(&us.range[i], n))
				continue;
			page_verify(&us.range[i], n);
			page_release(&us.range[i], n);
		}
	}
}

/* Waits until a counter of `common` reaches a number; false if it does not. */
static bool wait_for(const uint32_t *number, uint32_t least, const char *what)
{
	unsigned int waited;

	for (waited = 0; __atomic_load_n(number, __ATOMIC_SEQ_CST) < least;
	     waited += WAIT_MS) {
		if (stopped())
			return false;
		if (waited > PATIENCE_MS) {
			report_doing();
			violation(NULL, -1, "%s: only %u of %u after %u s",
				  what, *number, least, PATIENCE_MS / 1000);
			return false;
		}
		sleep_ms(WAIT_MS);
	}
	return true;
}

/* Folds the per-CPU parts of counters while all threads rest. */
static void expect_no_negative(void)
{
	if (!counters_fold())
		violation(NULL, -1, "a counter of /proc/vmstat is negative");
}

static bool give_order(void)
{
	uint32_t orders = __atomic_add_fetch(&common->orders, 1,
					     __ATOMIC_SEQ_CST);

	return wait_for(&common->obeyed, orders * common->processes,
			"workers that followed the order");
}

static void swap_out_all(const pid_t *workers)
{
	unsigned int round, i;
	char path[64];

	for (round = 0; round < ROUNDS; round++) {
		/* This drains the per-CPU lists of all CPUs. */
		write_file("/proc/sys/vm/compact_memory", "1");
		for (i = 0; i < common->processes; i++) {
			sprintf(path, "/proc/%d/clear_refs", (int)workers[i]);
			write_file(path, "1");
		}
		cgroup_reclaim("4G");
	}
}

/* Each page in swap has at most one slot; pages of files have slots, too. */
#define FILES_KIB	(2 * MAX_PAGES * PAGE_SIZE / KIB)

static void expect_swapped_out(unsigned long used_kib)
{
	struct account all = { 0 };
	unsigned int i;

	for (i = 0; i < common->processes; i++) {
		const struct account *is = &common->account[i];

		all.populated += is->populated;
		all.resident += is->resident;
		all.swapped += is->swapped;
	}
	results_line("soak accounting %llu populated %llu swapped %llu "
		     "resident %llu", (unsigned long long)operations(),
		     (unsigned long long)all.populated,
		     (unsigned long long)all.swapped,
		     (unsigned long long)all.resident);
	if (all.resident > OVERLOOKED * common->processes)
		violation(NULL, -1, "at rest, %llu of %llu pages cannot be "
			  "swapped out", (unsigned long long)all.resident,
			  (unsigned long long)all.populated);
	if (used_kib > all.swapped * PAGE_KIB + FILES_KIB + SLACK_KIB)
		violation(NULL, -1, "%lu KiB of swap in use, but only %llu "
			  "pages are there", used_kib,
			  (unsigned long long)all.swapped);
}

void accounting(const pid_t *workers)
{
	unsigned long used;

	__atomic_store_n(&common->pause, 1, __ATOMIC_SEQ_CST);
	if (wait_for(&common->resting, common->processes * common->threads,
		     "threads that rest") && give_order()) {
		background_ksm(false);
		swap_out_all(workers);
		expect_no_negative();
		swap_settle();
		used = swap_used_kib();
		expect_near("memory.swap.current",
			    cgroup_number("memory.swap.current") / KIB, used);
		if (give_order())
			expect_swapped_out(used);
		background_ksm(true);
	}
	__atomic_store_n(&common->pause, 0, __ATOMIC_SEQ_CST);
}
