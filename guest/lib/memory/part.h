/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folios of which some pages are in another VMA than the rest, or unmapped, so
 * that a VMA ends in the middle of a folio.
 */
#ifndef QUIRE_PART_H
#define QUIRE_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/mask.h"

/* How the pages in a mask are changed. */
struct part {
	const char *name;
	int advice, prot;	/* -1: none */
	bool gone;		/* the pages are no longer there */
};

/*
 * Calls check() for every way to divide a folio: MADV_DONTDUMP,
 * MADV_SEQUENTIAL, PROT_READ, PROT_NONE, MADV_DONTNEED and munmap, each for
 * every mask that does not have all pages.
 */
void for_each_part(unsigned long kib,
		   void (*check)(unsigned long kib, const struct mask *mask,
				 const struct part *part));
void part_give(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask, const struct part *part);
/* Each page allows the accesses it should, and holds SEED if it can be read. */
void expect_part(char *addr, size_t pages, unsigned long kib,
		 const struct mask *mask, const struct part *part);

#endif
