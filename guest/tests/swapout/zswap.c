// SPDX-License-Identifier: GPL-2.0
/* With zswap, pages are compressed in memory before the swap device gets them. */
#include <stdlib.h>
#include <unistd.h>

#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "swapout.h"

#define ENABLED	"/sys/module/zswap/parameters/enabled"

SWAPOUT_CASE(through_zswap, 4, 64)
{
	size_t pages = range_pages(kib);
	struct snapshot *before;
	unsigned long stored;
	char *at;

	if (access(ENABLED, F_OK))
		SKIP("this kernel has no zswap");
	stored = vmstat("zswpout");
	at = swapout_range(kib, true);
	/* It leaves to the device what it cannot compress. */
	pattern_write_words(at, pages * PAGE_SIZE, SEED);
	write_file(ENABLED, "Y");
	before = snapshot(at, pages);
	reclaim(at, pages, BY_PAGEOUT);
	write_file(ENABLED, "N");
	/* Before 6.13, large folios go to the device. */
	EXPECT(kib > 4 || vmstat("zswpout") >= stored + pages,
	       "zswap has %lu pages of %zu", vmstat("zswpout") - stored, pages);
	expect_in_swap(before, at, kib);
	EXPECT_EQ(pattern_verify_words(at, pages * PAGE_SIZE, SEED), -1);
	expect_back(before, at);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}
