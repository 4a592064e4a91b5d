/* SPDX-License-Identifier: GPL-2.0 */
/*
 * References to pages from outside the page tables: pipe buffers from
 * vmsplice(). get_user_pages_fast() takes the reference, as for direct I/O, but
 * for reading and without a pin. Reclaim cannot free a folio that has such a
 * reference.
 */
#ifndef QUIRE_HOLD_H
#define QUIRE_HOLD_H

#include <stddef.h>

#include "base/units.h"

/* Pages: a pipe has 16 buffers, and gets more where blocks have more pages. */
#define HOLD_MAX	(units.block / PAGE_SIZE)
#define HOLD_USUAL	16u

struct hold {
	int out, in;	/* the ends of the pipe */
	unsigned int held;
};

/*
 * Starts without references. hold_page() adds one to the page at addr, which
 * stays mapped.
 */
struct hold hold_start(void);
void hold_page(struct hold *hold, const void *addr);
/*
 * Holds one page of each folio of a range, the one at that index, at most
 * HOLD_MAX.
 */
struct hold hold_folios(char *addr, size_t pages, unsigned long kib,
			size_t index);
/*
 * Reads the present contents of the next held page, in the order of
 * hold_page(), and drops its reference.
 */
void hold_read(struct hold *hold, void *page);
/* Drops all references. */
void hold_end(struct hold *hold);

#endif
