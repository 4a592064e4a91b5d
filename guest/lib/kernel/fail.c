// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include "kernel/fail.h"
#include "proc/knob.h"
#include "report/expectation.h"

#define DEBUGFS	"/sys/kernel/debug"
#define ATTR(name) DEBUGFS "/fail_page_alloc/" name
#define TASK	"/proc/self/make-it-fail"

void needs_failing_pages(void)
{
	if (access(ATTR("probability"), F_OK) || access(TASK, F_OK))
		SKIP("this kernel cannot fail page allocations (debug.config)");
}

void fail_pages_start(void)
{
	write_file(ATTR("task-filter"), "Y");
	write_file(ATTR("ignore-gfp-wait"), "Y");
	/* A continuation page of the swap map may be in high memory. */
	write_file(ATTR("ignore-gfp-highmem"), "N");
	write_file(ATTR("min-order"), "0");
	write_file(ATTR("verbose"), "0");
	write_file(ATTR("interval"), "1");
	write_file(ATTR("times"), "-1");
	write_file(TASK, "1");
	write_file(ATTR("probability"), "100");
}

void fail_pages_end(void)
{
	write_file(ATTR("probability"), "0");
	write_file(TASK, "0");
}
