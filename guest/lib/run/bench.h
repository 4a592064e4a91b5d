/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload is data and callbacks: how memory is laid out, which call is
 * measured, how its effect is verified. Everything else (parameters, counters,
 * result lines, crash handling) is the same for all and lives in bench.c.
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
	struct bench_param params[6];	/* up to the first without a name */
	const char *vmstat[6];		/* /proc/vmstat counters to report */
	const char *mthp[6];		/* counters of the folio size, if large */
	void (*setup)(void);	/* optional, as is verify */
	void (*run)(void);	/* holds quire_start() and quire_stop() */
	void (*verify)(void);	/* calls bench_fail() when a byte is wrong; a
				 * run() that repeats verifies by itself */
};

#define QUIRE_WORKLOAD(w)					\
	static const struct workload *const w##_entry		\
	__attribute__((used, section("quire_workloads"))) = &(w)

/* The folio sizes the tables show, as a parameter. */
#define PARAM_SIZE { "size", "4", "4|16|32|64|128|256|512|1024|2048" }

/* For the callbacks: the value of a parameter. */
unsigned long bench_number(const char *name);
const char *bench_word(const char *name);

/* How much the region handles in all: 4 KiB pages, operations. */
void bench_work(unsigned long pages, unsigned long ops);
/* Check len bytes at addr for folios of the wanted size; adds up over calls. */
void bench_check_folios(const void *addr, size_t len, unsigned long kib);
/* The same for a whole VMA of len bytes; folios of 2 MiB must be PMD-mapped. */
void bench_check_layout(const void *vma, size_t len, unsigned long kib);
/* A counter of the workload's own, reported beside the standard ones. */
void bench_counter(const char *name, unsigned long before, unsigned long after);
/* "verify fail ..." and the end of this bench. */
void bench_fail(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* All is set up: let the system settle, then let the plugin begin to look. */
void bench_arm(void);

/* `bench <name> [key=value ...]`; runs in the calling process, returns status. */
int bench_main(size_t nr_words, char *const *words);
/* One "bench name ..." line each. */
void bench_list(void);

#endif
