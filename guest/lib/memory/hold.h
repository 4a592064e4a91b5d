/* SPDX-License-Identifier: GPL-2.0 */
/*
 * References to pages from outside of any page table: pipe buffers that
 * vmsplice() made of them. A reference is taken by get_user_pages_fast(), like
 * that of direct I/O in flight, but for reading and without pinning. Reclaim
 * cannot free a folio while it lasts.
 */
#ifndef QUIRE_HOLD_H
#define QUIRE_HOLD_H

#include <stddef.h>

#define HOLD_MAX 16u	/* pages: buffers of a pipe */

struct hold {
	int out, in;	/* the ends of the pipe */
	unsigned int held;
};

/* An empty hold; hold_page() adds the page at addr, which stays mapped. */
struct hold hold_start(void);
void hold_page(struct hold *hold, const void *addr);
/* One page of each folio of a range, the one at that index, while they fit. */
struct hold hold_folios(char *addr, size_t pages, unsigned long kib,
			size_t index);
/*
 * Read back what the pages hold now, in the order they were taken, and drop
 * the reference to each: one page.
 */
void hold_read(struct hold *hold, void *page);
/* Drop all references. */
void hold_end(struct hold *hold);

#endif
