// SPDX-License-Identifier: GPL-2.0
/* Writing 1 to clear_refs: no page counts as accessed then. */
#include <sys/mman.h>

#include "aging.h"
#include "memory/expect.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "report/die.h"
#include "run/ktap.h"

/* A mapping ends within a block, whose other pages are of the next one. */
QUIRE_CASE_SIZES(aging, clear_refs_all, ALL_SIZES)
{
	size_t pages = range_pages(kib), half = pages - BLOCK / 2;
	char *at = range_by_ptes(kib);

	if (madvise(page_at(at, half), (pages - half) * PAGE_SIZE, MADV_DONTDUMP))
		die_errno("MADV_DONTDUMP of half a block");
	EXPECT_EQ(smaps_kib(at, "Referenced"), half * PAGE_SIZE / KIB);
	write_file("/proc/self/clear_refs", "1");
	EXPECT_EQ(smaps_kib(at, "Referenced"), 0);
	EXPECT_EQ(smaps_kib(page_at(at, half), "Referenced"), 0);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}
