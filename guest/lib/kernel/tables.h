/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A batch of PTEs must end with its page table. The memory behind a table is
 * often the next table to be allocated: here one of another process, whose
 * first entries map the pages that would continue the batch. A walk that reads
 * too far unmaps these pages in the wrong process.
 */
#ifndef QUIRE_TABLES_H
#define QUIRE_TABLES_H

#include <stddef.h>

/*
 * Makes folios of kib that are mapped so, and reclaims them by the cgroup.
 * prepare() is called once they are filled, before any move. expect() is called
 * after reclaim for each part, in both processes; its contents start at page
 * `first` of the pattern.
 */
void tables_as_neighbours(unsigned long kib,
			  void (*prepare)(char *addr, size_t pages),
			  void (*expect)(char *addr, size_t pages,
					 size_t first));

#endif
