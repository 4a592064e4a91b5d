// SPDX-License-Identifier: GPL-2.0
/* The kernel keeps the tags of memory that is in swap, beside its contents. */
#include <stdlib.h>

#include "memory/tags.h"
#include "swapout.h"

SWAPOUT_CASE(tags_kept, 4, 64, 2048)
{
	size_t pages = range_pages(kib);
	struct snapshot *before;
	char *at;

	needs_tags();
	at = swapout_range(kib, true);
	tags_set(at, pages);
	before = snapshot(at, pages);
	reclaim(at, pages, BY_PAGEOUT);
	expect_in_swap(before, at, kib);
	expect_content(at, pages, SEED, 0);
	expect_tags(at, pages);
	expect_back(before, at);
	range_drop(at, pages);
	free(before);
}
