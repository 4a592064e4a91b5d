/* SPDX-License-Identifier: GPL-2.0 */
/* What must hold of a range before and after something happened to it. */
#ifndef QUIRE_EXPECT_H
#define QUIRE_EXPECT_H

#include <stddef.h>
#include <stdint.h>

#include "proc/pagemap.h"
#include "report/expectation.h"

/* pagemap of a range at one time. Free with free(). */
struct snapshot {
	size_t pages;
	struct page_state page[];
};

struct snapshot *snapshot(const char *addr, size_t pages);

/* Skip the case on a kernel without soft-dirty tracking. */
void needs_soft_dirty(void);

/* All that pagemap shows of each page is as before. */
void expect_entries(const struct snapshot *before, const char *addr);

/* Pages hold the pattern of seed, the first one that of page `first`. */
void expect_content(const char *addr, size_t pages, uint64_t seed, size_t first);
void expect_zero(const char *addr, size_t pages);
/* Writing works on each page, and what is written stays there. */
void expect_writable(char *addr, size_t pages);
/* Each page can be read but not written. */
void expect_read_only(char *addr, size_t pages);

#endif
