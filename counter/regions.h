/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions: the increase of the cells between start and stop markers, and the
 * part of it in spans.
 *
 * An error of the guest (a stop without a start and the like) is kept and
 * invalidates the output, see regions_write(). Callers serialise all calls.
 */
#ifndef QUIRE_REGIONS_H
#define QUIRE_REGIONS_H

#include <stdio.h>

#include "report.h"
#include "symbols.h"

/*
 * Set once, before the first region. If @below is not zero, regions count only
 * the totals: the cells below it, without those of each symbol.
 */
void regions_init(const struct report *how, unsigned int below);

void region_start(unsigned int id, unsigned int vcpu);
void region_stop(unsigned int id, unsigned int vcpu);

/*
 * With cpus=on: the next instruction is one of vCPU @to, the one before was of
 * @from, and all earlier ones are counted.
 */
void regions_switch(unsigned int from, unsigned int to);

/*
 * Begins or ends the open regions' spans at @sym. Call this after all earlier
 * instructions are counted, and before its first instruction is.
 */
void regions_enter_symbol(const struct symbol *sym);

/* Records a wrong use of markers by the guest; the first one is kept. */
__attribute__((format(printf, 1, 2)))
void regions_spoil(const char *fmt, ...);

/*
 * Writes all regions that ran, as README.md describes. After an error, an
 * "error" line replaces the "end" line.
 */
void regions_write(FILE *out);

#endif
