// SPDX-License-Identifier: GPL-2.0
/*
 * Times the workloads on the machine and the kernel that it runs on, and writes
 * JSON. docs/dev/time.md describes it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "process/child.h"
#include "process/cpu.h"
#include "report/die.h"
#include "report/results.h"
#include "time/json.h"
#include "time/machine.h"
#include "time/main.h"
#include "time/plan.h"
#include "time/row.h"
#include "time/settings.h"

#define SIGNALLED	128	/* as a shell has it */

#define USAGE								\
	"usage: quire-time [--output=FILE] [--runs=N] [--least=N] [--warm=N]\n" \
	"                  [--seconds=N] [--precision=PER-MILLE] [--cpu=N]\n" \
	"                  [--list] [ROW ...]\n"			\
	"ROW is a pattern, as 'mremap*' or '*size=64*'; all rows without one.\n"

static struct time_options options = {
	.warm_up = 2, .least = 8, .most = 100, .seconds = 60, .per_mille = 10,
	.cpu = -1,
};
static const char *output;
static bool only_list;
static unsigned int nr_failed;

static const struct {
	const char *name;
	unsigned long *value, least, most;
} numbers[] = {
	{ "--runs=", &options.most, 1, MOST_RUNS },
	{ "--least=", &options.least, 1, MOST_RUNS },
	{ "--warm=", &options.warm_up, 0, MOST_RUNS },
	{ "--seconds=", &options.seconds, 1, 86400 },
	{ "--precision=", &options.per_mille, 1, 1000 },
};

static void set_option(const char *word)
{
	unsigned long value;
	size_t i;
	char *end;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t len = strlen(numbers[i].name);

		if (strncmp(word, numbers[i].name, len))
			continue;
		value = strtoul(word + len, &end, 10);
		if (*end || !word[len] || value < numbers[i].least ||
		    value > numbers[i].most)
			die_usage("%s: not a number from %lu to %lu", word,
				  numbers[i].least, numbers[i].most);
		*numbers[i].value = value;
		return;
	}
	if (!strncmp(word, "--cpu=", 6))
		options.cpu = atoi(word + 6);
	else if (!strncmp(word, "--output=", 9))
		output = word + 9;
	else if (!strcmp(word, "--list"))
		only_list = true;
	else
		die_usage("unknown option %s\n" USAGE, word);
}

/* The last CPU that we may use: the first has the most interrupts. */
static int choose_cpu(void)
{
	cpu_set_t set;
	int cpu, last = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		die_errno("cannot read which CPUs we may use");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			last = cpu;
	return last;
}

static void write_numbers(const char *key, const double *values, size_t nr)
{
	size_t i;

	json_open(key, '[');
	for (i = 0; i < nr; i++)
		json_number(NULL, values[i]);
	json_close(']');
}

static void write_counters(const struct row *row)
{
	unsigned int i;

	json_open("counters", '{');
	for (i = 0; i < NR_COUNTERS; i++) {
		if (row->err[i] == NOT_HERE)
			continue;
		if (row->err[i])
			json_text(clock_counter_name(i), strerror(row->err[i]));
		else
			json_number(clock_counter_name(i), row->counter[i]);
	}
	json_close('}');
}

static void write_row(const struct row_plan *plan, const struct row *row)
{
	const double interval[] = { row->interval.low, row->interval.high };

	json_open(NULL, '{');
	json_text("name", plan->name);
	json_text("unit", plan->unit);
	json_text("words", plan->words);
	json_text("skipped", row->skipped);
	json_text("failed", row->failed);
	json_open("boots", '[');
	write_numbers(NULL, row->values, row->nr);
	json_close(']');
	if (row->nr) {
		json_number("median", row->interval.median);
		write_numbers("interval", interval, 2);
		json_bool("tight", row->tight);
		write_counters(row);
	}
	json_close('}');
}

static void write_head(void)
{
	enum clock_kind kind;
	const char *why;

	kind = machine_clock(&why);
	json_text("schema", "quire-time");
	json_number("schema_version", 1);
	json_text("build", plan_build);
	json_open("clock", '{');
	json_text("kind", machine_clock_name(kind));
	json_text("why", why);
	json_text("values", kind == CLOCK_REAL ? "nanoseconds per unit" :
						 "not time");
	json_close('}');
	json_open("machine", '{');
	machine_describe(options.cpu);
	json_close('}');
	json_open("options", '{');
	json_number("warm_up", options.warm_up);
	json_number("least", options.least);
	json_number("most", options.most);
	json_number("seconds", options.seconds);
	json_number("per_mille", options.per_mille);
	json_number("confidence", 0.95);
	json_close('}');
	fprintf(stderr, "clock: %s (%s)\n", machine_clock_name(kind), why);
	if (kind != CLOCK_REAL)
		fprintf(stderr, "NOT TIME: what follows shows that the program "
				"runs, and nothing else\n");
}

static void say(const struct row_plan *plan, const struct row *row)
{
	const struct interval *found = &row->interval;

	if (row->failed[0] || row->skipped[0])
		fprintf(stderr, "%-40s %s: %s\n", plan->name,
			row->failed[0] ? "FAILED" : "skipped",
			row->failed[0] ? row->failed : row->skipped);
	else
		fprintf(stderr, "%-40s %.4g [%.4g, %.4g] per %s, %zu runs%s\n",
			plan->name, found->median, found->low, found->high,
			plan->unit, row->nr,
			row->tight ? "" : ", interval not tight");
}

static void report(const struct row_plan *plan, const struct row *row)
{
	write_row(plan, row);
	say(plan, row);
}

/*
 * A row of its own: the time inside of user-mode Linux, without the host's calls
 * that switch to it and map pages.
 */
static void report_inside(const struct row_plan *plan, struct row *row)
{
	char name[128];
	struct row_plan inside = *plan;

	if (!row->nr || row->err[COUNTER_SYSCALL])
		return;
	snprintf(name, sizeof(name), "%s:kernel", plan->name);
	inside.name = name;
	memcpy(row->values, row->inside, row->nr * sizeof(*row->values));
	row_is_tight(row, &options);
	report(&inside, row);
}

static void measure(struct row_plan *rows, size_t nr)
{
	static struct row row;
	size_t i;

	json_open(NULL, '{');
	write_head();
	json_open("rows", '[');
	for (i = 0; i < nr; i++) {
		row_measure(&rows[i], &options, &row);
		if (row_stopped)
			return;
		nr_failed += row.failed[0] != '\0';
		report(&rows[i], &row);
		report_inside(&rows[i], &row);
	}
	json_close(']');
	json_close('}');
}

/* A file that a full disk or a signal has cut must not look like a result. */
static void write_document(struct row_plan *rows, size_t nr)
{
	char partial[512];
	FILE *file;

	snprintf(partial, sizeof(partial), "%s.new", output ? output : "");
	if (output)
		file = fopen(partial, "we");
	else
		file = fdopen(dup(results_fd() < 0 ? STDOUT_FILENO :
				  results_fd()), "w");
	if (!file)
		die_errno("cannot write %s", output ? partial : "the results");
	json_to(file);
	measure(rows, nr);
	if (row_stopped && output)
		unlink(partial);
	if (row_stopped)
		exit(SIGNALLED + row_stopped);
	fputc('\n', file);
	if (fflush(file) || ferror(file) || fclose(file) ||
	    (output && rename(partial, output))) {
		int err = errno;

		unlink(partial);
		errno = err;
		die_errno("cannot write %s", output ? output : "the results");
	}
}

/* Settings are put back when the present run has ended: see time_main(). */
static void on_signal(int number)
{
	row_stopped = number;
}

/*
 * In a process of its own: a machine may lack what a guest has, for instance
 * KSM, and then only the rows that need it are skipped.
 */
static void quiesce(void)
{
	pid_t pid = fork_child();
	int status;

	if (!pid) {
		env_quiesce();
		exit(STATUS_OK);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fprintf(stderr, "not all of the system could be made quiet: "
				"khugepaged or KSM may run\n");
}

static void prepare(void)
{
	char why[256];

	if (!settings_allow(why, sizeof(why)))
		die_usage("the workloads cannot run here: %s", why);
	if (options.cpu < 0)
		options.cpu = choose_cpu();
	stay_on_cpu(options.cpu);
	settings_save();
	atexit(settings_restore);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
	quiesce();
}

int time_main(size_t nr, char *const *words)
{
	static struct row_plan rows[MOST_ROWS];
	char *patterns[64];
	size_t i, nr_rows, nr_patterns = 0;

	for (i = 0; i < nr; i++) {
		if (!strncmp(words[i], "--", 2))
			set_option(words[i]);
		else if (nr_patterns < ARRAY_SIZE(patterns))
			patterns[nr_patterns++] = words[i];
	}
	if (options.least > options.most)
		options.least = options.most;
	nr_rows = plan_rows(rows, patterns, nr_patterns);
	if (!nr_rows)
		die_usage("no row has such a name; --list shows them");
	if (only_list) {
		for (i = 0; i < nr_rows; i++)
			printf("%s\n", rows[i].name);
		return STATUS_OK;
	}
	prepare();
	write_document(rows, nr_rows);
	return nr_failed ? STATUS_FAILED : STATUS_OK;
}
