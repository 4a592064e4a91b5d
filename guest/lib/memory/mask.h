/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A mask: the pages of each folio of a range that an operation is applied to.
 */
#ifndef QUIRE_MASK_H
#define QUIRE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mask {
	const char *name;
	bool (*has)(size_t page, size_t nr);	/* of a folio of nr pages */
};

/* first, last, one in the middle, every other, all but first/last, half, all */
extern const struct mask masks[];
#define NR_MASKS	10u
#define MASK_FIRST	(&masks[0])
#define MASK_LAST	(&masks[1])
#define MASK_MIDDLE	(&masks[2])
#define MASK_EVEN	(&masks[3])
#define MASK_ALL_BUT_FIRST	(&masks[5])
#define MASK_LOW_HALF	(&masks[7])
#define MASK_HIGH_HALF	(&masks[8])
#define MASK_ALL	(&masks[NR_MASKS - 1])
extern const struct mask mask_none;

#define for_each_mask(this)						\
	for (const struct mask *this = masks; this < masks + NR_MASKS; this++)

/* A different mask for each, for two operations that differ. */
static inline const struct mask *mask_opposite(const struct mask *mask)
{
	return &masks[NR_MASKS - 1 - (mask - masks)];
}

/* Page n counts from the start of a range of whole folios. */
bool masked(const struct mask *mask, size_t page, unsigned long kib);
/*
 * Finds the next run of pages in the mask from *page on. Sets *page to its
 * start and returns its length, or 0 when there is none below `pages`.
 */
size_t mask_run(const struct mask *mask, size_t *page, size_t pages,
		unsigned long kib);
/* For the pages in the mask: mprotect(), madvise(), pattern_write_page(). */
void mask_protect(char *at, size_t pages, unsigned long kib,
		  const struct mask *mask, int prot);
void mask_advise(char *at, size_t pages, unsigned long kib,
		 const struct mask *mask, int advice);
void mask_write(char *at, size_t pages, unsigned long kib,
		const struct mask *mask, uint64_t seed);
/* The first page of a folio that is in the mask. */
size_t mask_first(const struct mask *mask, unsigned long kib);

#endif
