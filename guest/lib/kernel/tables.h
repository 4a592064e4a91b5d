/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run of entries must end with its page table. What lies behind it in memory
 * is often the next table to be made: here one of another process, whose first
 * entries map just the pages that would continue the run. A walk that reads on
 * unmaps them there and counts them here.
 */
#ifndef QUIRE_TABLES_H
#define QUIRE_TABLES_H

#include <stddef.h>

/*
 * Make folios of kib that lie so, and reclaim them by the cgroup. prepare() gets
 * them when they are filled, before any move; expect() the parts, in both
 * processes, after reclaim: pages from page `first` of the pattern on.
 */
void tables_as_neighbours(unsigned long kib,
			  void (*prepare)(char *addr, size_t pages),
			  void (*expect)(char *addr, size_t pages,
					 size_t first));

#endif
