/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader for the report of a test program: KTAP, or TAP 13 or 14. It passes
 * the lines on in the form that the host reads, as subtests of one test, and
 * judges them.
 */
#ifndef QUIRE_PROGRAM_KTAP_H
#define QUIRE_PROGRAM_KTAP_H

#include <stdbool.h>

#define KTAP_DEPTH	8

/* A list of results with the same indentation. */
struct ktap_level {
	unsigned int indent;
	unsigned long planned, seen;
	bool has_plan, failed;
};

struct ktap_reader {
	struct ktap_level level[KTAP_DEPTH];
	unsigned int deepest;		/* the open levels */
	bool nested_failed;		/* the level that was closed last */
	bool skipped;			/* by a plan of no tests */
	char reason[120];
};

void ktap_begin(struct ktap_reader *reader);
/* The next line, without its newline. */
void ktap_take(struct ktap_reader *reader, const char *text);
/*
 * The end of the lines. Returns whether all planned tests passed; if not,
 * reports why.
 */
bool ktap_end(struct ktap_reader *reader);

#endif
