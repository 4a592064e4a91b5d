/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run of a workload took: the time between quire_start() and
 * quire_stop(), and what the CPU's counters counted in between.
 */
#ifndef QUIRE_TIME_CLOCK_H
#define QUIRE_TIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Of perf events, and of files that a kernel may have. */
#define NR_EVENTS 6
enum {
	COUNTER_SYSCALL = NR_EVENTS,
	COUNTER_FAULT,
	COUNTER_SYNC,
	NR_COUNTERS
};
/* In place of an errno: this kernel does not have the file. */
#define NOT_HERE (-1)

/* Shared by the program and the process that runs the workload. */
struct time_sample {
	uint64_t ns;
	uint64_t rounds;
	struct {
		uint64_t value;
		int err;	/* why it does not count, an errno, or 0 */
	} counter[NR_COUNTERS];
};

const char *clock_counter_name(unsigned int nr);

/* Opens the counters of this process. From now on, regions add to sample. */
void clock_use(struct time_sample *sample);
/* Reads the counters into the sample. */
void clock_finish(void);

#endif
