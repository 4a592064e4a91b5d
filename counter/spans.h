/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spans: stretches of execution from the first instruction of one kernel
 * function to the first of another. Callers serialise all calls.
 */
#ifndef QUIRE_SPANS_H
#define QUIRE_SPANS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symbols.h"

/* The instructions of one region in each span; zero before its first start. */
struct span_tally {
	span_set_t open;	/* spans with an open stretch */
	struct {
		uint64_t stretches;
		uint64_t insns;		/* of the completed stretches */
		uint64_t since;		/* all instructions before the open one */
	} span[MAX_SPANS];
};

/* Records "name:begin:end", an argument. Returns false after a complaint. */
bool span_add(const char *text);

/* Finds the symbols of the recorded spans. Returns false after a complaint. */
bool spans_resolve(void);

/* The spans of which a stretch begins or ends at the entry of @sym. */
span_set_t spans_changing(const struct span_tally *tally,
			  const struct symbol *sym);

/* Begins or ends a stretch of each of @which after @total instructions. */
void spans_switch(struct span_tally *tally, span_set_t which, uint64_t total);

/* Writes a line for every span, of region @id. */
void spans_write(FILE *out, unsigned int id, const struct span_tally *tally);

#endif
