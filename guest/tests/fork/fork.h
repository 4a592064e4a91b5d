/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the fork cases: fork() of ranges that are in swap, or partly. As
 * the swapout cases, each has a swap of its own, of which no slot may be in use
 * at the end.
 */
#ifndef QUIRE_TESTS_FORK_H
#define QUIRE_TESTS_FORK_H

#include <stdbool.h>
#include <stddef.h>

#include "process/peer.h"
#include "tests/swapout/swapout.h"

#define FORK_CASE(name, ...)	SWAPPING_CASE(fork, name, __VA_ARGS__)

/* A range of which all pages are in swap. */
char *fork_range(unsigned long kib);
extern const struct ground in_swap;

enum order { PARENT_FIRST, CHILD_FIRST, CHILD_READS, NR_ORDERS };
/*
 * Forks, compares the entries, and lets both processes write to all pages, one
 * after the other: neither may see what the other writes.
 */
void expect_apart(char *addr, size_t pages, enum order order);

#endif
