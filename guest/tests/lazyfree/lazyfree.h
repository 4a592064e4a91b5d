/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the lazyfree cases share. Page n of a fresh range holds page n of the
 * pattern SEED, and what is written after MADV_FREE is SEED_NEW.
 */
#ifndef QUIRE_TESTS_LAZYFREE_H
#define QUIRE_TESTS_LAZYFREE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/reclaim.h"
#include "memory/expect.h"
#include "memory/hold.h"
#include "memory/mask.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "run/ktap.h"

#define SWAP_MIB	64

/*
 * range_charged() folios, given up by MADV_FREE: still mapped and whole, but
 * clean. lazy_free(): only that, checked to have made all lazyfree.
 */
char *lazy_range(unsigned long kib, bool by_pte);
void lazy_free(char *addr, size_t pages);

/* Write SEED_NEW to the pages in the mask. */
void lazy_rewrite(char *addr, size_t pages, unsigned long kib,
	     const struct mask *mask);

/* How many of the pages are present and not lazyfree (PG_swapbacked). */
size_t lazy_swapbacked(const char *addr, size_t pages);

/* No page and no swap entry there; and reads give zero. */
void expect_dropped(const char *addr, size_t pages);
/* Each page is zero as a whole, or page first + n of SEED as a whole. */
void expect_old_or_zero(const char *addr, size_t pages, size_t first);
/* Pages in the mask hold SEED_NEW, the others are as in expect_old_or_zero(). */
void expect_survivors(const char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask);
/* As expect_entries(), or the page is gone, which pages in the mask must not. */
void expect_entries_or_dropped(const struct snapshot *before, const char *addr,
			    unsigned long kib, const struct mask *mask);

#endif
