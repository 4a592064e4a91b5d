// SPDX-License-Identifier: GPL-2.0
#include "base/file.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "kernel/usage.h"
#include "proc/proc.h"
#include "report/expectation.h"

/* Tolerance: per-CPU counters, memory charged in advance, larger tables. */
#define SLACK_KIB	(PAGE_SCALE > 1 ? 1536 * PAGE_SCALE : 1024)

/* Fold the per-CPU counters. Fails when a counter of the kernel is negative. */
static void fold_vmstat(void)
{
	EXPECT(counters_fold(),
	       "a counter of /proc/vmstat is negative");
}

struct usage usage_now(void)
{
	struct usage now;

	env_drain_lru();
	swap_settle();
	fold_vmstat();
	now.rss = status_kib("RssAnon");
	now.anon = meminfo_kib("AnonPages");
	now.charged = memcg_current_kib();
	now.memcg_anon = memcg_stat("anon") / KIB;
	now.vm_swap = status_kib("VmSwap");
	now.swap = swap_used_kib();
	now.memcg_swap = memcg_swap_kib();
	return now;
}

static void expect_near(const char *what, unsigned long is,
			unsigned long expected)
{
	unsigned long far = is > expected ? is - expected : expected - is;

	EXPECT(far <= SLACK_KIB, "%s is %lu KiB, expected about %lu", what, is,
	       expected);
}

void expect_usage(const struct usage *first, unsigned long mapped_kib,
		  unsigned long swapped_kib)
{
	struct usage now = usage_now();

	expect_near("RssAnon", now.rss, first->rss + mapped_kib);
	expect_near("AnonPages", now.anon, first->anon + mapped_kib);
	expect_near("memory.current", now.charged, first->charged + mapped_kib);
	expect_near("memory.stat anon", now.memcg_anon,
		    first->memcg_anon + mapped_kib);
	expect_near("VmSwap", now.vm_swap, first->vm_swap + swapped_kib);
	expect_near("swap in use", now.swap, first->swap + swapped_kib);
	expect_near("memory.swap.current", now.memcg_swap,
		    first->memcg_swap + swapped_kib);
}
