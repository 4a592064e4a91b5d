/* SPDX-License-Identifier: GPL-2.0 */
/* Where the pages of a range are in this process. */
#ifndef QUIRE_SOAK_RANGE_H
#define QUIRE_SOAK_RANGE_H

#include "base/units.h"
#include "soak.h"

size_t range_pages_planned(unsigned int number);
enum range_type range_type_planned(unsigned int number);
/* The first home of a range, or the second, in every process. */
char *range_home(unsigned int number, unsigned int which);
void range_create(struct range *range, unsigned int number, struct model *model,
		int fd);
void ranges_lock(void);
void ranges_unlock(void);

/* Sets and clears bits of some pages; needs the range's mutex. */
void where_change(struct range *range, size_t first, size_t count,
		  uint32_t set, uint32_t clear);

/* A run of pages that all have the same state. */
struct run {
	size_t first, count;
	uint32_t state;
	char *addr;
};

/* From page `first` on, at most `most` pages; needs the range's mutex. */
struct run run_at(const struct range *range, size_t first, size_t most);
/*
 * The same at a random page, with a length that is common for folios, or where
 * whole folios were written last.
 */
struct run run_somewhere(struct actor *self, const struct range *range);
void range_is_fresh(struct range *range, size_t first, size_t count);
/* Maps a run of pages again at its place. */
void range_map(struct range *range, const struct run *run);

#endif
