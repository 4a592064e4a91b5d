// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "process/child.h"
#include "report/die.h"
#include "report/results.h"
#include "run/bench.h"
#include "time/row.h"

#define MAX_WORDS	8
#define RUN_MS		300000u		/* a single run that takes longer hangs */
#define MS_PER_S	1000

volatile sig_atomic_t row_stopped;

/* What the lines of a run say. */
struct told {
	unsigned long pages, ops;
	bool verified;
	char failure[200], note[200];
};

static void tell(struct told *told, const char *line)
{
	unsigned int id;

	if (sscanf(line, "pages %u %lu", &id, &told->pages) == 2 ||
	    sscanf(line, "ops %u %lu", &id, &told->ops) == 2)
		return;
	if (!strcmp(line, "verify ok"))
		told->verified = true;
	else if (!strncmp(line, "verify fail ", 12))
		snprintf(told->failure, sizeof(told->failure), "%.199s",
			 line + 12);
	else if (!strncmp(line, "note ", 5))
		snprintf(told->note, sizeof(told->note), "%.199s", line + 5);
}

static void read_lines(int fd, struct told *told)
{
	FILE *file = fdopen(fd, "r");
	char line[512];

	if (!file)
		die_errno("cannot read what a run reports");
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		tell(told, line);
	}
	fclose(file);
}

/* In a process of its own: the workload's memory is gone when it ends. */
static void run_words(const char *text, int fd, struct time_sample *sample)
{
	char *words[MAX_WORDS], *word, *copy = strdup(text);
	size_t nr = 0;
	int status;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	results_redirect(fd);
	diag_prefix("note ");
	for (word = strtok(copy, " "); word && nr < MAX_WORDS;
	     word = strtok(NULL, " "))
		words[nr++] = word;
	clock_use(sample);
	status = bench_main(nr, words);
	clock_finish();
	exit(status);
}

/* One run; false if it has failed, or cannot run here: the row says why. */
static bool run_once(const struct row_plan *plan, struct time_sample *sample,
		     struct told *told, struct row *row)
{
	int fd = memfd_create("lines", 0), status;
	pid_t pid;

	if (fd < 0)
		die_errno("cannot make a file for what a run reports");
	pid = fork_child();
	if (!pid)
		run_words(plan->words, fd, sample);
	if (!wait_within(pid, &status, RUN_MS)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		snprintf(row->failed, sizeof(row->failed), "hangs");
		close(fd);
		return false;
	}
	*told = (struct told){};
	read_lines(fd, told);
	if (WIFSIGNALED(status))
		snprintf(row->failed, sizeof(row->failed), "killed: %s",
			 strsignal(WTERMSIG(status)));
	else if (told->failure[0])
		snprintf(row->failed, sizeof(row->failed), "%s", told->failure);
	else if (WEXITSTATUS(status) || !told->verified || !sample->rounds ||
		 (!told->pages && !told->ops))
		snprintf(row->skipped, sizeof(row->skipped), "%s",
			 told->note[0] ? told->note : "it does not run here");
	return !row->failed[0] && !row->skipped[0];
}

static void add(struct row *row, const struct time_sample *sample,
		const struct told *told, double (*counters)[MOST_RUNS])
{
	double units = told->pages ? told->pages : told->ops;
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++) {
		counters[i][row->nr] = sample->counter[i].value / units;
		row->err[i] = sample->counter[i].err;
	}
	row->inside[row->nr] = (sample->counter[COUNTER_SYSCALL].value +
				sample->counter[COUNTER_FAULT].value) / units;
	row->values[row->nr++] = sample->ns / units;
}

bool row_is_tight(struct row *row, const struct time_options *options)
{
	double sorted[MOST_RUNS];
	struct interval *found = &row->interval;

	memcpy(sorted, row->values, row->nr * sizeof(*sorted));
	row->tight = interval_of(sorted, row->nr, found) &&
		     (found->high - found->low) / 2 * 1000 <=
			     found->median * options->per_mille;
	return row->tight;
}

static void end(struct row *row, double (*counters)[MOST_RUNS])
{
	struct interval found;
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++) {
		interval_of(counters[i], row->nr, &found);
		row->counter[i] = row->nr ? found.median : 0;
	}
}

/* What has run before can run here: then it is no reason to skip the row. */
static void refuse(struct row *row, unsigned long run)
{
	if (!run || row->failed[0])
		return;
	memcpy(row->failed, row->skipped, sizeof(row->failed));
	row->skipped[0] = '\0';
}

void row_measure(const struct row_plan *plan,
		 const struct time_options *options, struct row *row)
{
	static double counters[NR_COUNTERS][MOST_RUNS];
	long until = now_ms() + options->seconds * MS_PER_S;
	struct time_sample *sample;
	unsigned long run;
	struct told told;

	*row = (struct row){};
	sample = mmap(NULL, sizeof(*sample), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sample == MAP_FAILED)
		die_errno("no memory for a sample");
	for (run = 0; row->nr < options->most && !row_stopped; run++) {
		if (!run_once(plan, sample, &told, row)) {
			refuse(row, run);
			break;
		}
		if (run < options->warm_up)
			continue;
		add(row, sample, &told, counters);
		if (row->nr < options->least)
			continue;
		if (row_is_tight(row, options) || now_ms() >= until)
			break;
	}
	row_is_tight(row, options);
	end(row, counters);
	munmap(sample, sizeof(*sample));
}
