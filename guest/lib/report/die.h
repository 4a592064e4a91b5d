/* SPDX-License-Identifier: GPL-2.0 */
/* Messages about errors, and the end of the process. */
#ifndef QUIRE_DIE_H
#define QUIRE_DIE_H

#include <stddef.h>

/* Exit statuses of a process of this guest. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,	/* a test or a verification failed, or die() */
	STATUS_USAGE = 2,	/* unknown word, bad parameter */
	STATUS_SKIP = 4,	/* a test case that does not apply here */
};

/*
 * Reports what failed and ends this process with STATUS_FAILED. die_errno()
 * adds the text of errno; die_usage() exits with STATUS_USAGE. The message is a
 * "# " diagnostic in a test and a "note" line in a bench.
 */
void die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void die_errno(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void die_usage(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Memory of zeroes for nr objects of that size, or dies. */
void *allocate(size_t nr, size_t size);

/* The prefix of lines from die() and diag(): "note " (default) or "# ". */
void diag_prefix(const char *prefix);
void diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
