/* SPDX-License-Identifier: GPL-2.0 */
/* Reclaim of a range. The accessed bits of its pages are cleared first. */
#ifndef QUIRE_RECLAIM_H
#define QUIRE_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "memory/mask.h"

/* range_of() in a memory cgroup of this process. */
char *range_charged(unsigned long kib, bool by_pte);

/* How to reclaim; memcg.h says what differs. */
enum how { BY_PAGEOUT, BY_MEMCG, NR_HOW };

/*
 * Try to reclaim the range (BY_MEMCG: all of the cgroup). _shared: all of the
 * cgroup, with the memory of this process and of that one.
 */
void reclaim(char *addr, size_t pages, enum how how);
void reclaim_shared(pid_t pid);
/*
 * From now on, reclaim skips all memory of this process, except memory that is
 * munlock()ed or that its children allocate.
 */
void reclaim_nothing_else(void);

/*
 * Puts each folio of the range into the swap cache and leaves its mappings as
 * they are: reclaim assigns swap slots, then finds a mlocked page and stops.
 * Reclaim refuses to add a folio with extra references to the swap cache; this
 * adds it before. Large folios, none of them shared; needs memcg_enter() and
 * swap.
 */
void reclaim_to_swap_cache(char *addr, size_t pages, unsigned long kib);

/*
 * Locks the pages in the mask without faults. Plain mlock() would write to
 * them.
 */
void mask_mlock(char *addr, size_t pages, unsigned long kib,
		const struct mask *mask);

/*
 * Whether a folio of kib that goes to swap is split first, as without
 * CONFIG_THP_SWAP. It counts what was swapped out: ask afterwards.
 */
bool swap_splits(unsigned long kib);
/* Skips the case if it is. */
void needs_whole_swap(unsigned long kib);

#endif
