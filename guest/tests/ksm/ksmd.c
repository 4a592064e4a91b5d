// SPDX-License-Identifier: GPL-2.0
/* Drives ksmd one pass at a time, and sets the initial state of a ksm case. */
#include <sys/stat.h>

#include "base/clock.h"
#include "worker.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "process/cpu.h"

#define KNOBS		"/sys/kernel/mm/ksm"
#define CGROUP_ROOT	"/sys/fs/cgroup"

/* ksmd sleeps so long after a pass; we check more often. */
#define PAUSE_MS	20u
#define LOOK_MS		4u
#define LIMIT_MS	4000u
#define NEVER_MS	3600000u	/* after one page it sleeps so long */

void ksm_set(const char *knob, unsigned long value)
{
	char path[64];

	snprintf(path, sizeof(path), KNOBS "/%s", knob);
	write_file(path, "%lu", value);
}

/* Only memory of this case can then be reclaimed. */
static void join_cgroup(void)
{
	write_file(CGROUP_ROOT "/cgroup.subtree_control", "+memory");
	mkdir(KSM_CGROUP, 0755);
	write_file(KSM_CGROUP "/cgroup.procs", "0");
}

static void whole_passes(void)
{
	ksm_set("sleep_millisecs", PAUSE_MS);
	ksm_set("pages_to_scan", 1000000);	/* one batch is a whole pass */
}

void ksm_begin(void)
{
	stay_on_cpu(0);	/* reclaim would not find pages in the LRU batches of another */
	join_cgroup();
	workers_open();
	ksm_set("smart_scan", 1);
	ksm_set("use_zero_pages", 0);
	whole_passes();
	if (ksm_sysfs("max_page_sharing") != 256)
		ksm_set("max_page_sharing", 256);
}

/* Lets ksmd run until a counter has grown by so much; returns by how much. */
static unsigned long run_until(const char *counter, unsigned long growth,
			       unsigned long limit)
{
	unsigned long waited, first = ksm_sysfs(counter);

	ksm_set("run", 1);
	for (waited = 0; ksm_sysfs(counter) - first < growth;
	     waited += LOOK_MS) {
		if (waited > limit)
			die("%s of ksmd does not grow by %lu in %lu ms", counter,
			    growth, limit);
		sleep_ms(LOOK_MS);
	}
	ksm_set("run", 0);
	return ksm_sysfs(counter) - first;
}

unsigned int ksm_pass(unsigned int passes)
{
	return run_until("full_scans", passes, LIMIT_MS + passes * 2 * PAUSE_MS);
}

void ksm_visit_first(void)
{
	ksm_set("sleep_millisecs", NEVER_MS);
	ksm_set("pages_to_scan", 1);
	run_until("pages_scanned", 1, LIMIT_MS);
	whole_passes();
}
