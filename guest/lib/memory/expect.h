/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of a range before and after an operation. */
#ifndef QUIRE_EXPECT_H
#define QUIRE_EXPECT_H

#include <stddef.h>
#include <stdint.h>

#include "memory/mask.h"
#include "proc/pagemap.h"
#include "report/expectation.h"

/* The pagemap of a range at one time. Free with free(). */
struct snapshot {
	size_t pages;
	struct page_state page[];
};

struct snapshot *snapshot(const char *addr, size_t pages);
/* How many pages of the mask have another page frame now. */
size_t snapshot_moved(const struct snapshot *before, const char *addr,
		      unsigned long kib, const struct mask *mask);

/* Writes to the pages in the mask, as SEED has them: no others are soft-dirty then. */
void soft_dirty_where(char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask);
/* Skips the case on a kernel without soft-dirty tracking. */
void needs_soft_dirty(void);
/* Skips the case on a machine with one CPU. */
void needs_other_cpu(void);
/* Skips the case on a machine with one memory node. */
void needs_nodes(void);

/*
 * pagemap shows the same as before for each page; expect_changed(): beside what
 * the operation changes. Soft-dirty of an empty entry is that of the VMA, and is
 * not compared.
 */
enum {
	NEW_FRAMES = 1,		/* present pages have other frames */
	SOFT_DIRTY_SET = 2,	/* pages and swap entries are soft-dirty, if tracked */
	WP_DROPPED = 4,		/* uffd-wp is gone, and so are markers */
	MAPPED_AGAIN = 8,	/* another process has pages, too, or no longer */
};
void expect_entries(const struct snapshot *before, const char *addr);
void expect_changed(const struct snapshot *before, const char *addr,
		    unsigned int changes);

/* The pages hold the pattern of seed, from its page `first` on. */
void expect_content(const char *addr, size_t pages, uint64_t seed, size_t first);
/* The pages in the mask do. */
void expect_masked(const char *addr, size_t pages, unsigned long kib,
		   const struct mask *mask, uint64_t seed);
void expect_zero(const char *addr, size_t pages);
/* Each page can be written, and keeps what is written. */
void expect_writable(char *addr, size_t pages);
/* Each page can be read but not written. */
void expect_read_only(char *addr, size_t pages);

#endif
