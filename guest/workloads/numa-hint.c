// SPDX-License-Identifier: GPL-2.0
/*
 * Faults by NUMA hints: the kernel has made the entries of one MiB PROT_NONE, and
 * a thread of a process with two reads one page of each folio. The memory is on
 * the thread's node and stays there. A fault makes the entries of its folio
 * accessible again.
 *
 * The kernel gives hints in the timer tick. The region is shorter than a tick.
 */
#include <pthread.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/nodes.h"
#include "mib.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

/* The first fault after a scan computes where the process runs best. */
static char *first_page;

static void read_folios(size_t len)
{
	size_t at;

	for (at = 0; at < MIB; at += len)
		(void)*(volatile const char *)(MIB_ADDR + at);
}

static void once(bool counted)
{
	size_t len = bench_number("size") * KIB;
	unsigned long faults;

	len = len < MIB ? len : MIB;
	nodes_give_hints(MIB / PAGE_SIZE);
	env_after_tick();
	(void)*(volatile const char *)first_page;
	faults = vmstat("numa_hint_faults");
	if (counted)
		quire_start();
	read_folios(len);
	if (counted)
		quire_stop();
	faults = vmstat("numa_hint_faults") - faults;
	nodes_balance(false);
	if (faults != MIB / len)
		bench_fail("%lu faults by hints, not %zu", faults, MIB / len);
	mib_verify(MIB_ADDR);
	unmap(MIB_ADDR, MIB);
}

static void *run_thread(void *arg __attribute__((unused)))
{
	first_page = map_anon(NULL, PAGE_SIZE);
	*first_page = 1;
	nodes_balance(false);
	mib_repeat(once);
	return NULL;
}

/* The thread has its period from when it begins. */
static void run(void)
{
	pthread_t thread;

	if (!nodes_balance_often(true))
		die("this kernel has no NUMA balancing");
	if (pthread_create(&thread, NULL, run_thread, NULL))
		die("cannot start a thread");
	pthread_join(thread, NULL);
	nodes_balance_often(false);
}

static const struct workload numa_hint = {
	.name = "numa-hint",
	.summary = "faults by NUMA hints, one for each folio of 1 MiB",
	.params = { PARAM_SIZE, { "reps", "8", NULL } },
	.vmstat = { "numa_hint_faults", "pgmigrate_success" },
	.run = run,
};
QUIRE_WORKLOAD(numa_hint);
