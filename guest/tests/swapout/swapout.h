/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the swapout cases share. Page n of a fresh range holds page n of the
 * pattern SEED.
 *
 * Each case has swap of its own and nothing else in it: all other memory of the
 * process is locked. So slots of swap are counted exactly, and a reference to
 * one that is lost or taken twice shows: see swapout_end().
 */
#ifndef QUIRE_TESTS_SWAPOUT_H
#define QUIRE_TESTS_SWAPOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/reclaim.h"
#include "memory/expect.h"
#include "memory/hold.h"
#include "memory/mask.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "run/ktap.h"

#define SWAP_MIB	32

/* Swap on, and the rest of this process out of reach of reclaim. */
void swapout_start(unsigned long mib);
/* Once all memory is given back: no slot is in use, and swapoff ends. */
void swapout_end(void);

/* A case for these folio sizes that does all between the two. */
#define SWAPOUT_CASE(name, ...)						\
	static void name##_swapping(unsigned long kib);			\
	QUIRE_CASE_SIZES(swapout, name, __VA_ARGS__)			\
	{								\
		swapout_start(SWAP_MIB);				\
		name##_swapping(kib);					\
		swapout_end();						\
	}								\
	static void name##_swapping(unsigned long kib)

/* range_charged() that reclaim can reach. */
char *swapout_range(unsigned long kib, bool by_pte);

/*
 * Each page of `before`, which was mapped there, is in swap, with the same bits:
 * the pages of a folio in an aligned run of slots, as a whole folio goes there.
 */
void expect_in_swap(const struct snapshot *before, const char *addr,
		    unsigned long kib);
/*
 * Reclaim failed at some page: pages in the mask are just as before, all others
 * are that, too, or in swap with the same bits.
 */
void expect_kept(const struct snapshot *before, const char *addr,
		 unsigned long kib, const struct mask *kept);
/* Read all pages: each is mapped again, with the bits it had. */
void expect_back(const struct snapshot *before, const char *addr);

#endif
