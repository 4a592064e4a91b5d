// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "time/interval.h"

#define ALPHA 0.05

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* k as the header has it; 0 if there is none. */
static size_t rank(size_t nr)
{
	double term = 1, below;
	size_t k;

	for (k = 0; k < nr; k++)
		term /= 2;
	below = term;
	for (k = 0; 2 * below <= ALPHA; below += term) {
		k++;
		term = term * (double)(nr - k + 1) / (double)k;
	}
	return k;
}

bool interval_of(double *values, size_t nr, struct interval *found)
{
	size_t k = nr <= MOST_RUNS ? rank(nr) : 0;

	if (!nr)
		return false;
	qsort(values, nr, sizeof(*values), ascending);
	found->median = (values[(nr - 1) / 2] + values[nr / 2]) / 2;
	found->low = values[k ? k - 1 : 0];
	found->high = values[k ? nr - k : nr - 1];
	return k > 0;
}
