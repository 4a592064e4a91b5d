// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include "kernel/fail.h"
#include "proc/knob.h"
#include "report/expectation.h"

#define DEBUGFS	"/sys/kernel/debug"
#define PAGES(name) DEBUGFS "/fail_page_alloc/" name
#define SLABS(name) DEBUGFS "/failslab/" name
#define TASK	"/proc/self/make-it-fail"

void needs_failing_allocations(void)
{
	if (access(PAGES("probability"), F_OK) ||
	    access(SLABS("probability"), F_OK) || access(TASK, F_OK))
		SKIP("this kernel cannot fail allocations (debug.config)");
}

/* Of this process, all that may not sleep, without a report. */
#define SELECT(attr)							\
	do {								\
		write_file(attr("task-filter"), "Y");			\
		write_file(attr("ignore-gfp-wait"), "Y");		\
		write_file(attr("verbose"), "0");			\
		write_file(attr("interval"), "1");			\
		write_file(attr("times"), "-1");			\
	} while (0)

void fail_allocations_start(void)
{
	SELECT(PAGES);
	SELECT(SLABS);
	/* A continuation page of the swap map may be in high memory. */
	write_file(PAGES("ignore-gfp-highmem"), "N");
	write_file(PAGES("min-order"), "0");
	write_file(TASK, "1");
	write_file(PAGES("probability"), "100");
	write_file(SLABS("probability"), "100");
}

void fail_allocations_end(void)
{
	write_file(SLABS("probability"), "0");
	write_file(PAGES("probability"), "0");
	write_file(TASK, "0");
}
