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

void needs_failing_allocations(void)
{
	if (access(PAGES "/probability", F_OK) ||
	    access(SLABS "/probability", F_OK) || access(TASK, F_OK))
		SKIP("this kernel cannot fail allocations (debug.config)");
}

/* Of this process, all that may not sleep, without a report. */
static void select_atomic(const char *kind)
{
	static const char *const settings[][2] = {
		{ "task-filter", "Y" },
		{ "ignore-gfp-wait", "Y" },
		{ "verbose", "0" },
		{ "interval", "1" },
		{ "times", "-1" },
	};
	char path[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "%s/%s", kind, settings[i][0]);
		write_file(path, "%s", settings[i][1]);
	}
}

void fail_allocations_start(void)
{
	select_atomic(PAGES);
	select_atomic(SLABS);
	/* A continuation page of the swap map may be in high memory. */
	write_file(PAGES "/ignore-gfp-highmem", "N");
	write_file(PAGES "/min-order", "0");
	write_file(TASK, "1");
	write_file(PAGES "/probability", "100");
	write_file(SLABS "/probability", "100");
}

void fail_allocations_end(void)
{
	write_file(SLABS "/probability", "0");
	write_file(PAGES "/probability", "0");
	write_file(TASK, "0");
}
