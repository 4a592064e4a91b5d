/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A memory cgroup for this process and its children. A test can then ask for
 * reclaim as the kernel does it by itself: from the LRU lists, with folios that
 * are shared, partially mapped or mapped in several places. MADV_PAGEOUT skips
 * such folios, or splits them first.
 */
#ifndef QUIRE_MEMCG_H
#define QUIRE_MEMCG_H

#include <stdbool.h>

/*
 * Creates a cgroup and moves this process into it, once; further calls do
 * nothing. The process leaves and removes the cgroup at exit. Memory that
 * exists already stays in its old cgroup.
 */
void memcg_enter(void);
/* The path of the cgroup below the root of the hierarchy: "/quire-...". */
const char *memcg_path(void);
/* Reclaims all that can be reclaimed, in several passes over the LRU lists. */
void memcg_reclaim(void);
/* Reclaims that much or less: for memory that is in use at the same time. */
void memcg_reclaim_kib(unsigned long kib);
/* The same by a limit below what is in use, "memory.high", which is lifted again. */
void memcg_limit_kib(unsigned long kib);
/* "memory.reclaim", opened for writing: for a bench that counts the write. */
int memcg_open_reclaim(void);
/*
 * "memory.current" in KiB. The kernel charges up to 256 KiB per CPU in advance.
 */
unsigned long memcg_current_kib(void);
/* "memory.swap.current" in KiB. */
unsigned long memcg_swap_kib(void);
/* A field of "memory.stat": bytes, or a number of events ("pgscan"). */
unsigned long memcg_stat(const char *field);

#endif
