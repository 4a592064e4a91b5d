// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the system's counters before the first worker and after the last
 * one, with the swap device still there. Nothing may have leaked.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "report/die.h"
#include "report/results.h"
#include "soak.h"
#include "system.h"

#define ZRAM	"/sys/block/zram0/mm_stat"

enum source { VMSTAT, MEMINFO, KSM, MTHP, ZRAM_DATA };

/* Fields, and how much they may grow, in their own units. */
static const struct {
	enum source source;
	const char *field;
	unsigned long slack;
} fields[] = {
	/* Main itself needs a few pages. */
	{ VMSTAT, "nr_anon_pages", 64 },
	{ VMSTAT, "nr_anon_transparent_hugepages", 0 },
	{ VMSTAT, "nr_shmem", 0 },
	{ VMSTAT, "nr_mlock", 0 },
	{ VMSTAT, "nr_isolated_anon", 0 },
	{ VMSTAT, "nr_swapcached", 0 },
	{ VMSTAT, "nr_page_table_pages", 8 },
	{ MEMINFO, "SwapCached", 0 },
	{ KSM, "pages_shared", 0 },
	{ KSM, "pages_sharing", 0 },
	{ KSM, "pages_unshared", 0 },
	{ KSM, "pages_volatile", 0 },
	{ KSM, "stable_node_chains", 0 },
	{ KSM, "ksm_zero_pages", 0 },
	{ MTHP, "nr_anon", 0 },
	{ MTHP, "nr_anon_partially_mapped", 0 },
	{ ZRAM_DATA, "orig_data_size", 0 },
};

static unsigned long before[ARRAY_SIZE(fields)];
static unsigned long free_before;
/* Slab caches and the like, which cannot be emptied. */
#define FREE_SLACK_KIB	(8 * 1024 * PAGE_SCALE)

/* Free pages in per-CPU lists are free, too. */
static unsigned long free_kib(void)
{
	unsigned long pages, sum = 0;
	FILE *f = fopen("/proc/zoneinfo", "re");
	char line[200];

	if (!f)
		die_errno("cannot open /proc/zoneinfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " count: %lu", &pages) == 1)
			sum += pages;
	}
	fclose(f);
	return meminfo_kib("MemFree") + sum * PAGE_SIZE / KIB;
}

static unsigned long mthp_sum(const char *field)
{
	unsigned long kib, sum = 0;

	for (kib = 4 * PAGE_KIB; kib <= PMD_KIB; kib *= 2)
		sum += mthp_stat(kib, field);
	return sum;
}

static unsigned long zram_data(void)
{
	unsigned long bytes;
	char text[200];

	if (read_file(ZRAM, text, sizeof(text)) < 0 ||
	    sscanf(text, "%lu", &bytes) != 1)
		die("cannot read " ZRAM);
	return bytes;
}

static unsigned long field_now(size_t i)
{
	switch (fields[i].source) {
	case VMSTAT:
		return vmstat(fields[i].field);
	case MEMINFO:
		return meminfo_kib(fields[i].field);
	case KSM:
		return ksm_sysfs(fields[i].field);
	case MTHP:
		return mthp_sum(fields[i].field);
	case ZRAM_DATA:
		return zram_data();
	}
	return 0;
}

/* Returns everything that is cached, and folds the counters. */
static bool settle(void)
{
	swap_settle();
	write_file("/proc/sys/vm/compact_memory", "1");
	write_file("/proc/sys/vm/drop_caches", "3");
	env_drain_lru();
	return counters_fold();
}

void leaks_before(void)
{
	size_t i;

	settle();
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		before[i] = field_now(i);
	free_before = free_kib();
}

static bool expect_none(const char *what, unsigned long is, unsigned long was,
			unsigned long slack)
{
	if (is <= was + slack)
		return true;
	diag("%s is %lu, was %lu", what, is, was);
	return false;
}

bool leaks_none(void)
{
	bool ok = settle();
	unsigned long free;
	size_t i;

	if (!ok)
		diag("a counter of /proc/vmstat is negative");
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		ok &= expect_none(fields[i].field, field_now(i), before[i],
				  fields[i].slack);
	ok &= expect_none("swap in use", swap_used_kib(), 0, 0);
	free = free_kib();
	results_line("soak free %lu %lu", free_before, free);
	ok &= expect_none("memory that is not free, KiB", free_before - free, 0,
			  free > free_before ? -1ul : FREE_SLACK_KIB);
	return ok;
}
