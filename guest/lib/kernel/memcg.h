/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A memory cgroup for this process and all it forks, so that reclaim can be
 * asked for as the kernel does it on its own: from the LRU lists, of folios
 * that are shared, mapped in part or in several places. MADV_PAGEOUT leaves
 * such folios alone, or splits them first.
 */
#ifndef QUIRE_MEMCG_H
#define QUIRE_MEMCG_H

#include <stdbool.h>

/*
 * Make a cgroup and move into it; once per process, further calls do nothing.
 * It is left and removed at exit. Memory that exists already stays where it is.
 */
void memcg_enter(void);
/* Reclaim what can be reclaimed, with several passes over the LRU lists. */
void memcg_reclaim(void);
/* So much, or what there is: for memory that is in use at the same time. */
void memcg_reclaim_kib(unsigned long kib);
/* "memory.current", in KiB; up to 256 KiB per CPU are charged in advance. */
unsigned long memcg_current_kib(void);
/* "memory.swap.current", in KiB. */
unsigned long memcg_swap_kib(void);
/* A field of "memory.stat": bytes, or a number of events ("pgscan"). */
unsigned long memcg_stat(const char *field);

#endif
