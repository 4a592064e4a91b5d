// SPDX-License-Identifier: GPL-2.0
/* The tags of memory are copied with it. */
#include "memory/tags.h"
#include "migrate.h"

QUIRE_CASE_SIZES(migrate, tags_kept, 4, 64, 2048)
{
	size_t pages = range_pages(kib);
	char *at;

	needs_nodes();
	needs_tags();
	at = migrate_range(kib, false);
	tags_set(at, pages);
	migrate(at, pages);
	expect_tags(at, pages);
	expect_content(at, pages, SEED, 0);
}
