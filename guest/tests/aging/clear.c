// SPDX-License-Identifier: GPL-2.0
/* Writing 1 to clear_refs: no page counts as accessed then. */
#include <sys/mman.h>

#include "aging.h"
#include "proc/knob.h"
#include "proc/proc.h"

/* A mapping ends within a block, whose other pages are of the next one. */
TRIAL_CASE(aging, clear_refs_all, plain, 0, ALL_SIZES)
{
	size_t half = t->pages - BLOCK / 2;

	range_advise(page_at(t->at, half), t->pages - half, MADV_DONTDUMP);
	EXPECT_EQ(smaps_kib(t->at, "Referenced"), half * PAGE_SIZE / KIB);
	write_file("/proc/self/clear_refs", "1");
	EXPECT_EQ(smaps_kib(t->at, "Referenced"), 0);
	EXPECT_EQ(smaps_kib(page_at(t->at, half), "Referenced"), 0);
	expect_content(t->at, t->pages, SEED, 0);
}
