/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An interval of the median by order statistics: whatever the distribution is,
 * the median of a sample of n lies between its k-th smallest and its k-th
 * largest value unless fewer than k of n fair coins show one side. k is the
 * largest for which that has a probability of at most 5 %.
 */
#ifndef QUIRE_TIME_INTERVAL_H
#define QUIRE_TIME_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#define MOST_RUNS	1000u	/* 2 to that power is a double */

struct interval {
	double median, low, high;
};

/* Sorts the values. False for fewer than six: no two of them will do. */
bool interval_of(double *values, size_t nr, struct interval *found);

#endif
