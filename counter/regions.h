/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions: what the cells gained between start and stop markers, and how much of
 * it in spans.
 *
 * A mistake of the guest (a stop without a start and the like) is kept and
 * spoils the output, see regions_write(). Callers serialise all calls.
 */
#ifndef QUIRE_REGIONS_H
#define QUIRE_REGIONS_H

#include <stdio.h>

#include "cells.h"
#include "decode.h"
#include "symbols.h"

/* The cells that are no symbol's. */
struct fixed_cells {
	cell_t user;		/* instructions at addresses of the lower half */
	cell_t other;		/* those of the upper half, outside any symbol */
	cell_t tlb[TLB_CLASSES];
	cell_t rep;		/* rep movs, stos and lods that came to their end */
};

void fixed_cells_init(struct fixed_cells *fixed);

void region_start(unsigned int id);
void region_stop(unsigned int id, const struct fixed_cells *fixed);

/*
 * Begin or end the open regions' spans that @sym does. To be called before its
 * first instruction is counted, and after all that executed earlier are.
 */
void regions_enter_symbol(const struct symbol *sym,
			  const struct fixed_cells *fixed);

/* Note what is wrong in the guest's use of markers; the first one is kept. */
__attribute__((format(printf, 1, 2)))
void regions_spoil(const char *fmt, ...);

/*
 * Write all regions that ran, as README.md describes. When something is wrong,
 * an "error" line takes the place of the "end" line.
 */
void regions_write(FILE *out, const struct target *target,
		   const struct fixed_cells *fixed);

#endif
