// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "tally.h"
#include "util.h"

void fixed_cells_init(struct fixed_cells *fixed)
{
	fixed->user = cell_new();
	fixed->other = cell_new();
	fixed->rep = cell_new();
	for (int i = 0; i < TLB_CLASSES; i++)
		fixed->tlb[i] = cell_new();
	for (int i = 0; i < ALL_KINDS; i++)
		fixed->events[i] = cell_new();
}

/* Cells that are new to the tally have the value zero. */
static void grow(struct tally *tally, unsigned int n)
{
	if (n > tally->room) {
		tally->room = n + n / 2;
		tally->values = xrealloc(tally->values, tally->room *
					 sizeof(*tally->values));
	}
	if (n > tally->n) {
		memset(tally->values + tally->n, 0,
		       (n - tally->n) * sizeof(*tally->values));
		tally->n = n;
	}
}

void tally_now(struct tally *tally, unsigned int n)
{
	grow(tally, n);
	cells_read(tally->values, n);
	tally->named = cells_sum();
}

void tally_subtract(struct tally *tally, const struct tally *earlier)
{
	for (unsigned int i = 0; i < earlier->n; i++)
		tally->values[i] -= earlier->values[i];
	tally->named -= earlier->named;
}

void tally_add(struct tally *sum, const struct tally *more)
{
	grow(sum, more->n);
	for (unsigned int i = 0; i < more->n; i++)
		sum->values[i] += more->values[i];
	sum->named += more->named;
}

void tally_raise(struct tally *tally, cell_t cell, uint64_t n)
{
	grow(tally, cell + 1);
	tally->values[cell] += n;
}

uint64_t tally_of(const struct tally *tally, cell_t cell)
{
	return cell < tally->n ? tally->values[cell] : 0;
}

uint64_t tally_kernel(const struct tally *tally,
		      const struct fixed_cells *fixed)
{
	return tally->named + tally_of(tally, fixed->other);
}
