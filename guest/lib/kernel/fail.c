// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/fail.h"
#include "proc/knob.h"
#include "report/expectation.h"

#define DEBUGFS	"/sys/kernel/debug"
#define PAGES	DEBUGFS "/fail_page_alloc"
#define SLABS	DEBUGFS "/failslab"
#define TASK	"/proc/self/make-it-fail"
/* Of kernels with seeded bugs: only what extends the counts of swap entries fails */
#define COUNTS	"/sys/module/swapfile/parameters/quire_cannot_grow"

void needs_failing_allocations(void)
{
	if (access(PAGES "/probability", F_OK) ||
	    access(SLABS "/probability", F_OK) || access(TASK, F_OK))
		SKIP("this kernel cannot fail allocations (debug.config)");
}

void needs_failing_counts(void)
{
	if (access(COUNTS, F_OK))
		needs_failing_allocations();
}

/*
 * Of this process, without a report: the next `times` (-1: all), only those that
 * may not sleep, or any.
 */
static void select_task(const char *kind, const char *atomic, const char *times)
{
	const char *const settings[][2] = {
		{ "task-filter", "Y" },
		{ "ignore-gfp-wait", atomic },
		{ "verbose", "0" },
		{ "interval", "1" },
		{ "times", times },
	};
	char path[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "%s/%s", kind, settings[i][0]);
		write_file(path, "%s", settings[i][1]);
	}
}

static void fail_pages(void)
{
	/* A page of a process, or of the swap map, may be in high memory. */
	write_file(PAGES "/ignore-gfp-highmem", "N");
	write_file(PAGES "/min-order", "0");
	write_file(TASK, "1");
	write_file(PAGES "/probability", "100");
}

void fail_counts_start(void)
{
	if (!access(COUNTS, F_OK)) {
		write_file(COUNTS, "Y");
		return;
	}
	select_task(PAGES, "Y", "-1");
	select_task(SLABS, "Y", "-1");
	fail_pages();
	write_file(SLABS "/probability", "100");
}

void fail_next_page(void)
{
	select_task(PAGES, "N", "1");
	fail_pages();
}

void fail_counts_end(void)
{
	if (access(COUNTS, F_OK))
		fail_allocations_end();
	else
		write_file(COUNTS, "N");
}

void fail_allocations_end(void)
{
	write_file(SLABS "/probability", "0");
	write_file(PAGES "/probability", "0");
	write_file(TASK, "0");
}
