/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the swapout cases. Page n of a fresh range holds page n of the
 * pattern SEED.
 *
 * Each case has its own swap with nothing else in it: all other memory of the
 * process is locked. Slots of swap can thus be counted exactly, and a reference
 * that is lost or taken twice shows: see swapout_end().
 */
#ifndef QUIRE_TESTS_SWAPOUT_H
#define QUIRE_TESTS_SWAPOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/probe.h"
#include "tests/matrix/trial.h"

#define SWAP_MIB	(32 * PAGE_SCALE)

/* Enables swap (_swapping: SWAP_MIB), and locks the rest of this process. */
void swapout_start(unsigned long mib);
void start_swapping(void);
/* Call when all memory is unmapped: no slot may be in use, and swapoff ends. */
void swapout_end(void);

/* A case of a suite for these folio sizes, between the two. */
#define SWAPPING_CASE(suite, name, ...)					\
	static void name##_swapping(unsigned long kib);			\
	QUIRE_CASE_SIZES(suite, name, __VA_ARGS__)			\
	{								\
		start_swapping();					\
		name##_swapping(kib);					\
		swapout_end();						\
	}								\
	static void name##_swapping(unsigned long kib)

#define SWAPOUT_CASE(name, ...)	SWAPPING_CASE(swapout, name, __VA_ARGS__)

/* range_charged() that reclaim can reach; between start and end. */
char *swapout_range(unsigned long kib, bool by_pte);
extern const struct ground swapping;

/*
 * Each page of `before`, which was mapped, is in swap with the same bits. The
 * pages of a folio are in an aligned run of slots, if a whole folio is swapped
 * out.
 */
void expect_in_swap(const struct snapshot *before, const char *addr,
		    unsigned long kib);
/*
 * Reclaim failed at some page. Pages in the mask are unchanged. The others are
 * too, or are in swap with the same bits.
 */
void expect_kept(const struct snapshot *before, const char *addr,
		 unsigned long kib, const struct mask *kept);
/* Reads all pages: each is mapped again, with the bits it had. */
void expect_back(const struct snapshot *before, const char *addr);

#endif
