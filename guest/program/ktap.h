/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader of what a test program reports: KTAP, or TAP 13 or 14. It passes the
 * lines on as the host reads them, as the subtests of one test, and judges.
 */
#ifndef QUIRE_PROGRAM_KTAP_H
#define QUIRE_PROGRAM_KTAP_H

#include <stdbool.h>

#define KTAP_DEPTH	8

/* A list of results that are indented alike. */
struct ktap_level {
	unsigned int indent;
	unsigned long planned, seen;
	bool has_plan, failed;
};

struct ktap_reader {
	struct ktap_level level[KTAP_DEPTH];
	unsigned int deepest;		/* of the levels that are open */
	bool nested_failed;		/* a level that was closed just now */
	bool skipped;			/* by a plan of no tests */
	char reason[120];
};

void ktap_begin(struct ktap_reader *reader);
/* The next line, without its end. */
void ktap_take(struct ktap_reader *reader, const char *text);
/* There are no more. Did all pass that were planned? If not, it says why. */
bool ktap_end(struct ktap_reader *reader);

#endif
