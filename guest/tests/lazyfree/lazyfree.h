/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the lazyfree cases. Page n of a fresh range holds page n of the
 * pattern SEED. Pages written after MADV_FREE hold SEED_NEW.
 */
#ifndef QUIRE_TESTS_LAZYFREE_H
#define QUIRE_TESTS_LAZYFREE_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/probe.h"
#include "tests/matrix/trial.h"

#define SWAP_MIB	(64 * PAGE_SCALE)

/*
 * range_charged() folios after MADV_FREE: still mapped and whole, but clean.
 * lazy_free(): only MADV_FREE, and a check that all pages are lazyfree.
 */
char *lazy_range(unsigned long kib, bool by_pte);
extern const struct ground lazy, lazy_with_swap;
void lazy_free(char *addr, size_t pages);

/* Writes SEED_NEW to the pages in the mask. */
void lazy_rewrite(char *addr, size_t pages, unsigned long kib,
	     const struct mask *mask);

/* arm64: no contpte block is left, though all entries of a folio agree. */
void lazy_unfold(char *addr, size_t pages);

/*
 * How many folios of that size were split: what batches leave over is dropped by a
 * split. 0 for single pages, and for 2 MiB, which arm64 splits on stock, too.
 */
unsigned long lazy_splits(unsigned long kib);

/* How many of the pages are present and not lazyfree (PG_swapbacked). */
size_t lazy_swapbacked(const char *addr, size_t pages);

/* There is no page and no swap entry; reads give zero. */
void expect_dropped(const char *addr, size_t pages);
/* Each page is all zero, or holds page first + n of SEED. */
void expect_old_or_zero(const char *addr, size_t pages, size_t first);
/*
 * Pages in the mask hold SEED_NEW, the others are as in expect_old_or_zero().
 */
void expect_survivors(const char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask);
/* As expect_entries(), but a page outside the mask may be gone. */
void expect_entries_or_dropped(const struct snapshot *before, const char *addr,
			    unsigned long kib, const struct mask *mask);

#endif
