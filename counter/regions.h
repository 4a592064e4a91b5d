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

#include "cells.h"
#include "decode.h"
#include "symbols.h"

/* The cells that belong to no symbol. */
struct fixed_cells {
	cell_t user;		/* instructions at addresses of the lower half */
	cell_t other;		/* those of the upper half, outside any symbol */
	cell_t tlb[TLB_CLASSES];
	cell_t rep;		/* completed rep movs, stos and lods */
};

void fixed_cells_init(struct fixed_cells *fixed);

void region_start(unsigned int id);
void region_stop(unsigned int id, const struct fixed_cells *fixed);

/*
 * Begins or ends the open regions' spans at @sym. Call this after all earlier
 * instructions are counted, and before its first instruction is.
 */
void regions_enter_symbol(const struct symbol *sym,
			  const struct fixed_cells *fixed);

/* Records a wrong use of markers by the guest; the first one is kept. */
__attribute__((format(printf, 1, 2)))
void regions_spoil(const char *fmt, ...);

/*
 * Writes all regions that ran, as README.md describes. After an error, an
 * "error" line replaces the "end" line.
 */
void regions_write(FILE *out, const struct target *target,
		   const struct fixed_cells *fixed);

#endif
