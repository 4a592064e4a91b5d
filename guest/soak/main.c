// SPDX-License-Identifier: GPL-2.0
/*
 * `soak [key=value ...]`: the start, the progress and the verdict. Besides KTAP
 * it writes these lines, each after "soak":
 *
 *	operations N SECONDS	so far
 *	accounting N ...	all threads rested: see accounting.c
 *	kind N MS NAME		how often that operation was done, how long it took
 *	event N NAME		how often the kernel did that
 *	free KIB KIB		free memory before and after
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "main.h"
#include "process/map.h"
#include "range.h"
#include "report/die.h"
#include "report/results.h"
#include "soak.h"
#include "system.h"
#include "worker.h"

#define SWAP_MIB	(256 * PAGE_SCALE)
#define TICK_MS		20u
#define PROGRESS_S	2
/* Memory for the workers, in percent of the size of their ranges. */
#define SHORT		45ul
/* Besides the ranges: page tables, stacks, copies of children. */
#define OVERHEAD_KIB	(3072 * PAGE_SCALE)

static struct options {
	unsigned long operations, seconds, seed, processes, threads, accounting;
} options = {
	.operations = 1000000,
	.seed = 1,
	.processes = 2,
	.threads = 3,
	.accounting = 50000,	/* operations between two of them */
};

static const struct {
	const char *name;
	unsigned long *value;
	unsigned long most;
} parameters[] = {
	{ "operations", &options.operations, -1ul },
	{ "seconds", &options.seconds, -1ul },
	{ "seed", &options.seed, -1ul },
	{ "processes", &options.processes, MAX_PROCESSES },
	{ "threads", &options.threads, MAX_THREADS },
	{ "accounting", &options.accounting, -1ul },
};

static void parse(const char *word)
{
	const char *value = strchr(word, '=');
	size_t i, len = value ? value - word : 0;
	char *end;

	for (i = 0; value && i < ARRAY_SIZE(parameters); i++) {
		if (strlen(parameters[i].name) != len ||
		    strncmp(parameters[i].name, word, len))
			continue;
		*parameters[i].value = strtoul(value + 1, &end, 10);
		if (*end || end == value + 1 ||
		    *parameters[i].value > parameters[i].most)
			die_usage("soak: \"%s\" is out of bounds", word);
		return;
	}
	die_usage("soak: unknown word \"%s\"; known: operations= seconds= seed= "
		  "processes= threads= accounting=", word);
}

static unsigned long limit_kib(void)
{
	unsigned long pages = 0;
	unsigned int i;

	for (i = 0; i < NR_RANGES; i++)
		pages += range_pages_planned(i) *
			 (range_type_planned(i) == SHMEM ? 1 : options.processes);
	return pages * PAGE_SIZE / KIB * SHORT / 100 + OVERHEAD_KIB;
}

static long now_s(void)
{
	return now_ms() / 1000;
}

/*
 * When the host was last told, when operations last increased, and their
 * number.
 */
static struct {
	long told, moved;
	uint64_t last;
} watch;

static void notice_hang(long now)
{
	if (operations() != watch.last)
		watch.moved = now;
	watch.last = operations();
	if (now - watch.moved > HUNG_S) {
		report_doing();
		violation(NULL, -1, "no operation for %d s", HUNG_S);
	}
}

/* Tells the host the progress. */
static void progress(long began)
{
	long now = now_s();

	notice_hang(now);
	if (now - watch.told < PROGRESS_S)
		return;
	watch.told = now;
	results_line("soak operations %llu %ld",
		     (unsigned long long)operations(), now - began);
}

static void run(pid_t *workers, long began)
{
	struct actor self = { .random = options.seed };
	uint64_t next = options.accounting;

	watch.moved = began;
	while (!done() && !stopped()) {
		sleep_ms(TICK_MS);
		background_pass(&self, workers);
		progress(began);
		workers_judge(workers);
		if (options.seconds &&
		    now_s() - began >= (long)options.seconds)
			__atomic_store_n(&common->target, operations(),
					 __ATOMIC_SEQ_CST);
		if (operations() >= next && !done()) {
			accounting(workers);
			next = operations() + options.accounting;
			watch.moved = now_s();
		}
	}
	if (!stopped())
		accounting(workers);
	watch.told = 0;
	progress(began);
}

static void prepare(void)
{
	if (!options.processes || !options.threads || !options.accounting)
		die_usage("soak: processes, threads and accounting must be 1 or more");
	common = map_or_die(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	common->seed = options.seed;
	common->target = options.operations;
	common->processes = options.processes;
	common->threads = options.threads;
	common->folio_pages = 1;
	swap_on(SWAP_MIB);
	cgroup_make(limit_kib());
}

static void result(bool ok, unsigned int number, const char *name, bool *all)
{
	results_line("  %sok %u %s", ok ? "" : "not ", number, name);
	*all &= ok;
}

/*
 * After a violation the workers do not clean up, so leaks would mean nothing.
 */
static bool verdict(void)
{
	bool ok = true;
	unsigned long taint;

	result(!common->violations, 1, "contents", &ok);
	if (!ok) {
		results_line("  ok 2 enough # SKIP after a violation");
		results_line("  ok 3 leaks # SKIP after a violation");
	} else {
		result(events_enough(), 2, "enough", &ok);
		result(leaks_none(), 3, "leaks", &ok);
	}
	taint = env_taint();
	if (taint)
		diag("the kernel is tainted: %#lx", taint);
	result(!taint, 4, "kernel", &ok);
	results_line("%sok 1 soak", ok ? "" : "not ");
	return ok;
}

int soak_main(size_t nr, char *const *words)
{
	pid_t workers[MAX_PROCESSES] = { 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		parse(words[i]);
	diag_prefix("  # ");
	prepare();
	results_line("KTAP version 1");
	results_line("1..1");
	results_line("  KTAP version 1");
	results_line("  1..4");
	diag("seed=%lu operations=%lu processes=%lu threads=%lu "
	     "accounting=%lu, memory for %lu KiB", options.seed,
	     options.operations, options.processes, options.threads,
	     options.accounting, limit_kib());
	leaks_before();
	events_before();
	background_begin();
	workers_start(workers);
	run(workers, now_s());
	background_rest();
	workers_end(workers);
	background_end();
	if (!workers_left(workers))
		cgroup_remove();
	return verdict() ? STATUS_OK : STATUS_FAILED;
}
