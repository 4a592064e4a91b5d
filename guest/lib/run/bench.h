/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload is data and callbacks: the layout of memory, the measured call,
 * and the check of its effect. All else (parameters, counters, result lines,
 * crashes) is the same for all workloads and is in bench.c.
 */
#ifndef QUIRE_BENCH_H
#define QUIRE_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "run/marker.h"

struct bench_param {
	const char *name;
	const char *value;	/* the default */
	const char *allowed;	/* "a|b|c", or NULL: any positive number */
};

struct workload {
	const char *name;
	const char *summary;
	struct bench_param params[7];	/* up to the first without a name */
	const char *vmstat[6];		/* /proc/vmstat counters to report */
	const char *mthp[6];		/* counters of the folio size, if large */
	void (*setup)(void);	/* optional, as is verify */
	void (*run)(void);	/* holds quire_start() and quire_stop() */
	void (*verify)(void);	/* calls bench_fail() when a byte is wrong; a
				   run() that repeats checks by itself */
};

#define QUIRE_WORKLOAD(w)					\
	static const struct workload *const w##_entry		\
	__attribute__((used, section("quire_workloads"))) = &(w)

/* The folio sizes of the tables, as a parameter. */
#define PARAM_SIZE { "size", "4", NULL }

/* For the callbacks: the value of a parameter. */
unsigned long bench_number(const char *name);
const char *bench_word(const char *name);

/*
 * How many times to repeat a region: the parameter reps, but few times if each
 * access is slow (kernel parameters quire_lines=on and quire_few=on).
 */
unsigned long bench_reps(void);
/* How much the region handles in all: pages, operations. */
void bench_work(unsigned long pages, unsigned long ops);
/*
 * The region: a write of so many bytes to memory.reclaim of the cgroup. Less may
 * be reclaimed: verify() decides.
 */
void bench_reclaim(size_t bytes);
/* Checks len bytes at addr for folios of the wanted size; calls add up. */
void bench_check_folios(const void *addr, size_t len, unsigned long kib);
/*
 * The same for a whole VMA of len bytes; folios of 2 MiB must be mapped by PMD.
 */
void bench_check_layout(const void *vma, size_t len, unsigned long kib);
/* A counter of this workload, reported beside the standard ones. */
void bench_counter(const char *name, unsigned long before, unsigned long after);
/* Reports "verify fail ..." and ends this bench. */
void bench_fail(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/*
 * Call after the setup: waits for the system to settle, then arms the plugin.
 */
void bench_arm(void);
/* Call when the region has ended and its memory is still mapped. */
void bench_disarm(void);

/* `bench <name> [key=value ...]`: runs in this process, returns the status. */
int bench_main(size_t nr_words, char *const *words);
/* Prints one "bench name ..." line each. */
void bench_list(void);

#endif
