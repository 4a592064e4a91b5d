/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tallies: the values of the cells at one time, or their increase between two.
 * A tally that is all zero is empty.
 */
#ifndef QUIRE_TALLY_H
#define QUIRE_TALLY_H

#include "cells.h"
#include "decode.h"

/* The cells that belong to no symbol. */
struct fixed_cells {
	cell_t user;		/* instructions at addresses of the lower half */
	cell_t other;		/* those of the upper half, outside any symbol */
	cell_t tlb[TLB_CLASSES];
	cell_t events[ALL_KINDS];	/* of the upper half */
	cell_t rep;		/* completed rep movs, stos and lods */
};

struct tally {
	unsigned int n;		/* the cells below n are in it */
	unsigned int room;
	uint64_t *values;
	uint64_t named;		/* instructions of all symbols */
};

/* Creates the cells. */
void fixed_cells_init(struct fixed_cells *fixed);

/* Reads the cells below @n; @n must not be less than at the last call. */
void tally_now(struct tally *tally, unsigned int n);

/* Subtracts an earlier tally. */
void tally_subtract(struct tally *tally, const struct tally *earlier);

void tally_add(struct tally *sum, const struct tally *more);

/* Adds @n to the value of @cell. */
void tally_raise(struct tally *tally, cell_t cell, uint64_t n);

/* The value of @cell; zero if the tally is without it. */
uint64_t tally_of(const struct tally *tally, cell_t cell);

/* All instructions at addresses of the upper half. */
uint64_t tally_kernel(const struct tally *tally,
		      const struct fixed_cells *fixed);

#endif
