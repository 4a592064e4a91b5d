/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DAMON, the kernel's monitor of accesses, mostly on physical memory. In each sampling
 * interval it picks a page of each region, makes all mappings of the page's
 * folio old, and looks at the interval's end whether one of them is young.
 * Source: Documentation/mm/damon/design.rst, admin-guide/mm/damon/usage.rst.
 */
#ifndef QUIRE_DAMON_H
#define QUIRE_DAMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* It monitors no fewer. */
#define DAMON_MIN_REGIONS	3

/* Is the kernel built with DAMON's sysfs files and physical monitoring? */
bool damon_available(void);

/*
 * Monitors nr blocks of len bytes from `at` on, DAMON_MIN_REGIONS at least: each
 * is a folio, and a region of its own that is neither merged nor split. They must
 * be present and stay where they are. The intervals are in milliseconds.
 */
void damon_start(const char *at, size_t nr, size_t len, unsigned int sample_ms,
		 unsigned int window_ms);
/* The same of the pages that a process maps there: of each block, some page. */
void damon_start_process(pid_t pid, const char *at, size_t nr, size_t len,
			 unsigned int sample_ms, unsigned int window_ms);
/* The same of blocks at these places, of which any page may be absent. */
void damon_start_places(pid_t pid, char *const *at, size_t nr, size_t len,
			unsigned int sample_ms, unsigned int window_ms);
/*
 * Waits for the end of a window, and says for each block in how many of its
 * samples it was accessed.
 */
void damon_accesses(unsigned int *out);
/* Can it move what a process maps? */
bool damon_can_move(void);
/*
 * Moves what this process maps in the blocks, as virtual addresses, to the node
 * at the end of each window (the scheme migrate_cold), until damon_stop().
 */
void damon_start_moving(const char *at, size_t nr, size_t len, int node,
			unsigned int window_ms);
/*
 * Counts the bytes of anonymous pages that this process maps in the blocks, at the
 * end of each window. damon_counted(): how many bytes were looked at until now,
 * and how many of them counted.
 */
void damon_start_counting(const char *at, size_t nr, size_t len,
			  unsigned int window_ms);
void damon_counted(unsigned long *all, unsigned long *counted);
void damon_stop(void);

#endif
