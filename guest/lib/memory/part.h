/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folios of which some pages are in another mapping than the rest, or in none,
 * so that a mapping ends in the middle of a folio.
 */
#ifndef QUIRE_PART_H
#define QUIRE_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/mask.h"

/* What the pages in a mask are given. */
struct part {
	const char *name;
	int advice, prot;	/* -1: none */
	bool gone;		/* the pages are no longer there */
};

/*
 * Call check() for every way to part a folio: MADV_DONTDUMP, MADV_SEQUENTIAL,
 * PROT_READ, PROT_NONE, MADV_DONTNEED and munmap, each of every mask that leaves
 * some pages out.
 */
void for_each_part(unsigned long kib,
		   void (*check)(unsigned long kib, const struct mask *mask,
				 const struct part *part));
void part_give(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask, const struct part *part);
/* Pages allow what they should and hold SEED, wherever they can be read. */
void expect_part(char *addr, size_t pages, unsigned long kib,
		 const struct mask *mask, const struct part *part);

#endif
