/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of the output, as README.md describes them. */
#ifndef QUIRE_REPORT_H
#define QUIRE_REPORT_H

#include <stdio.h>

#include "decode.h"
#include "tally.h"

/* What a tally consists of. */
struct report {
	const struct target *target;
	struct fixed_cells fixed;
	bool lines;		/* lines=on */
	bool caches;		/* caches=FILE */
	bool cpus;		/* cpus=on */
};

/* "region", "tlb" and "event" lines of region @id. */
void report_totals(FILE *out, const struct report *report, unsigned int id,
		   uint64_t runs, const struct tally *tally);

/* " CLASS=N" for each class and kind that is not zero. */
void report_nonzero(FILE *out, const struct report *report,
		    const struct tally *tally);

/*
 * "sym" lines, nonzero ones only. Static functions of the same name share a
 * line, if the symbols are sorted.
 */
void report_symbols(FILE *out, const struct report *report, unsigned int id,
		    const struct tally *tally);

#endif
