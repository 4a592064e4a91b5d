/* SPDX-License-Identifier: GPL-2.0 */
/* One row: a workload with its parameters, run until its median is known. */
#ifndef QUIRE_TIME_ROW_H
#define QUIRE_TIME_ROW_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "time/clock.h"
#include "time/interval.h"

struct time_options {
	unsigned long warm_up;		/* runs that do not count */
	unsigned long least, most;	/* runs that count */
	unsigned long seconds;		/* at most, for a row */
	unsigned long per_mille;	/* half an interval, of the median */
	int cpu;
};

struct row_plan {
	const char *name, *unit;
	char *words;		/* as `bench` takes them */
};

struct row {
	double values[MOST_RUNS];	/* ns a unit, in the order of the runs */
	size_t nr;
	/* User-mode Linux: of each run, what its kernel took. */
	double inside[MOST_RUNS];
	struct interval interval;
	bool tight;
	double counter[NR_COUNTERS];	/* median, a unit */
	int err[NR_COUNTERS];
	char skipped[256], failed[256];	/* why, or empty */
};

/* The signal after which no further run begins, or 0. */
extern volatile sig_atomic_t row_stopped;

/* Sets the interval of the values, and whether it is as narrow as asked for. */
bool row_is_tight(struct row *row, const struct time_options *options);

void row_measure(const struct row_plan *plan,
		 const struct time_options *options, struct row *row);

#endif
