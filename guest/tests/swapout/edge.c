// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that cross the end of a page table or of a VMA, or are partially
 * mapped. A batch of PTEs must end there.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/tables.h"
#include "memory/part.h"
#include "swapout.h"

/* Moves the range so that `before` pages lie below the end of a page table. */
static void check_across(unsigned long kib, size_t before)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	char *to = range_hole(page_at(DST_BASE, PMD_PAGES - before), pages);
	struct snapshot *was;

	move(at, pages, to);
	was = snapshot(to, pages);
	reclaim(to, pages, BY_MEMCG);
	expect_in_swap(was, to, kib);
	expect_content(to, pages, SEED, 0);
	expect_back(was, to);
	expect_writable(to, pages);
	range_drop(at, pages);
	range_drop(to, pages);
	free(was);
}

SWAPOUT_CASE(across_pmd, LARGE_SIZES)
{
	size_t nr = folio_pages(kib);

	check_across(kib, 1);
	check_across(kib, nr / 2);
	check_across(kib, nr - 1);
}

static void check_part(unsigned long kib, const struct mask *mask,
		       const struct part *part)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);

	part_give(at, pages, kib, mask, part);
	reclaim(at, pages, BY_MEMCG);
	EXPECT(!pagemap_present(at, pages), "%s of %s pages: %zu stay mapped",
	       part->name, mask->name, pagemap_present(at, pages));
	expect_part(at, pages, kib, mask, part);
	range_drop(at, pages);
}

SWAPOUT_CASE(part, LARGE_SIZES)
{
	for_each_part(kib, check_part);
}

static void unlock(char *addr, size_t pages)
{
	if (munlock(addr, pages * PAGE_SIZE))
		die_errno("munlock of the range");
}

static void all_in_swap(char *addr, size_t pages, size_t first)
{
	EXPECT_EQ(pagemap_swapped(addr, pages), pages);
	expect_content(addr, pages, SEED, first);
}

QUIRE_CASE_SIZES(swapout, ends_with_table, 16, 64, 256, 1024)
{
	swapout_start(64 * PAGE_SCALE);
	tables_as_neighbours(kib, unlock, all_in_swap);
	swapout_end();
}
