// SPDX-License-Identifier: GPL-2.0
/* The tags of memory move with its pages. */
#include "memory/tags.h"
#include "mremap.h"

QUIRE_CASE_SIZES(mremap, tags_kept, 4, 64, 2048)
{
	size_t pages = range_pages(kib);
	char *from, *to = range_hole(page_at(DST_BASE, BLOCK), pages);

	needs_tags();
	from = range_filled(SRC_BASE, pages, kib);
	tags_set(from, pages);
	move_and_check(from, pages, to);
	expect_tags(to, pages);
	expect_content(to, pages, SEED, 0);
}
