/* SPDX-License-Identifier: GPL-2.0 */
/* Reclaim of a range, after its pages no longer count as accessed. */
#ifndef QUIRE_RECLAIM_H
#define QUIRE_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "memory/mask.h"

/*
 * range_filled() folios at SRC_BASE, range_pages(kib) of them, in a memory cgroup
 * of this process; folios of 2 MiB mapped by their PMD or (by_pte) by PTEs.
 */
char *range_charged(unsigned long kib, bool by_pte);

/* Who reclaims; what differs is in memcg.h. */
enum how { BY_PAGEOUT, BY_MEMCG, NR_HOW };

/*
 * Try to reclaim the range (BY_MEMCG: all of the cgroup). _shared: all of the
 * cgroup, of this process and that one.
 */
void reclaim(char *addr, size_t pages, enum how how);
void reclaim_shared(pid_t pid);
/*
 * From now on, reclaim leaves all memory of this process alone, but not what is
 * munlock()ed, and not what its children get of their own.
 */
void reclaim_nothing_else(void);

/*
 * Put each folio of the range into the swap cache, and leave it mapped as it
 * is: reclaim gives it swap slots first and then comes across a page that is
 * locked. Reclaim then need not ask whether it may put the folio there, which
 * it refuses for folios that something refers to. Large folios, none of them
 * shared; needs memcg_enter() and swap.
 */
void reclaim_to_swap_cache(char *addr, size_t pages, unsigned long kib);

/* mlock() the pages in the mask, as they are: plain mlock() writes to them. */
void mask_mlock(char *addr, size_t pages, unsigned long kib,
		const struct mask *mask);

#endif
