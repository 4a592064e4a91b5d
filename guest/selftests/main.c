// SPDX-License-Identifier: GPL-2.0
/*
 * `selftests`: run programs of the kernel's tools/testing/selftests/mm. The
 * file /selftests/plan has a line for each run, in order:
 *
 *	<name> <seconds> <program> [argument ...]
 *
 * Runs whose name matches one of the patterns (fnmatch) are executed. A
 * program's output goes to the results port after "# ", in the format of the
 * kernel's kselftest/runner.sh; a line of KTAP with the verdict follows. Lines
 * of the harness start with "  # ".
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "main.h"
#include "process/watch.h"
#include "report/expectation.h"
#include "report/results.h"
#include "run/supervise.h"
#include "system.h"

#define PLAN		DIRECTORY "/plan"
#define MAX_RUNS	128
#define MAX_ARGS	16
/* The program's own limit ends first, so that its last output is kept. */
#define MARGIN_S	10u

struct run {
	const char *name;
	unsigned int seconds;
	char *argv[MAX_ARGS + 1];	/* ends with a NULL */
};

static struct run runs[MAX_RUNS];
static const struct run *current;

static void read_run(struct run *run, char *line)
{
	char *save, *seconds;
	size_t i;

	run->name = strtok_r(line, " ", &save);
	seconds = strtok_r(NULL, " ", &save);
	run->seconds = seconds ? strtoul(seconds, NULL, 10) : 0;
	for (i = 0; i < MAX_ARGS; i++) {
		run->argv[i] = strtok_r(NULL, " ", &save);
		if (!run->argv[i])
			break;
	}
	if (!run->seconds || !run->argv[0] || run->argv[MAX_ARGS])
		die_usage("a line of " PLAN " is no run: \"%s\"", run->name);
}

static bool selected(const char *name, char *const *patterns, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!fnmatch(patterns[i], name, 0))
			return true;
	}
	return false;
}

/* The selected runs, in the plan's order. */
static size_t read_plan(char *const *patterns, size_t nr_patterns)
{
	static char text[16384];
	char *save, *line;
	size_t nr = 0;

	if (read_file(PLAN, text, sizeof(text)) < 0)
		die_errno("cannot read " PLAN);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (nr == MAX_RUNS)
			die_usage("more than %d runs: raise MAX_RUNS", MAX_RUNS);
		read_run(&runs[nr], line);
		nr += selected(runs[nr].name, patterns, nr_patterns);
	}
	return nr;
}

static void become(const void *arg)
{
	const struct run *run = arg;
	char path[256];

	snprintf(path, sizeof(path), DIRECTORY "/%s", run->argv[0]);
	/* Programs write files there, and one looks for itself. */
	if (chdir(DIRECTORY))
		die_errno("cannot enter " DIRECTORY);
	execv(path, run->argv);
	die_errno("cannot execute %s", path);
}

/* Runs in the process of the case. */
static void run_program(unsigned long kib __attribute__((unused)))
{
	selftests_prepare();
	/* The program checks; its exit status tells. */
	ktap_count(true);
	exit(watch(become, current, patience(current->seconds * 1000)));
}

static bool report(const struct run *run, size_t number,
		   const struct outcome *outcome)
{
	bool ok = outcome->verdict == PASS || outcome->verdict == SKIPPED;

	results_line("%s %zu %s%s", ok ? "ok" : "not ok", number, run->name,
		     outcome->verdict == SKIPPED ? " # SKIP" : "");
	return ok;
}

static bool run_one(const struct run *run, size_t number)
{
	const struct ktap_case test = {
		.suite = "selftests",
		.name = run->name,
		.run = run_program,
		.timeout_ms = patience(run->seconds * 1000) + MARGIN_S * 1000,
	};
	struct outcome outcome;
	long start = now_ms();

	current = run;
	outcome = supervise(&test, PAGE_KIB);
	selftests_sweep();
	diag("took %ld ms", now_ms() - start);
	return report(run, number, &outcome);
}

int selftests_main(size_t nr_patterns, char *const *patterns)
{
	size_t i, nr = read_plan(patterns, nr_patterns);
	bool ok = true;

	if (!nr)
		die_usage("selftests: which? a pattern on the names in " PLAN);
	results_line("KTAP version 1");
	results_line("1..%zu", nr);
	selftests_mount();
	for (i = 0; i < nr; i++)
		ok &= run_one(&runs[i], i + 1);
	return ok ? STATUS_OK : STATUS_FAILED;
}
