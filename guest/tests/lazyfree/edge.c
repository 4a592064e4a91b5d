// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that cross the end of a page table or of a VMA, or are partially
 * mapped. A batch of PTEs must end there.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "lazyfree.h"
#include "memory/part.h"

/* Moves the range so that `before` pages lie below the end of a page table. */
static char *move_across(char *at, size_t pages, size_t before)
{
	char *to = range_hole(page_at(DST_BASE, PMD_PAGES - before), pages);

	move(at, pages, to);
	return to;
}

static void check_across(unsigned long kib, size_t before)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i <= NR_MASKS; i++) {
		char *at = lazy_range(kib, true);
		char *to = move_across(at, pages, before);

		if (i < NR_MASKS)
			lazy_rewrite(to, pages, kib, &masks[i]);
		reclaim(to, pages, BY_MEMCG);
		if (i < NR_MASKS)
			expect_survivors(to, pages, kib, &masks[i]);
		else
			expect_dropped(to, pages);
		expect_writable(to, pages);
		range_drop(at, pages);
		range_drop(to, pages);
	}
}

QUIRE_CASE_SIZES(lazyfree, across_pmd, LARGE_SIZES)
{
	size_t nr = folio_pages(kib);

	check_across(kib, 1);
	check_across(kib, nr / 2);
	check_across(kib, nr - 1);
}

QUIRE_CASE_SIZES(lazyfree, across_pmd_held, LARGE_SIZES)
{
	size_t i, nr = folio_pages(kib), pages = range_pages(kib);
	const size_t before[] = { 1, nr / 2, nr - 1 };

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		char *at = lazy_range(kib, true);
		char *to = move_across(at, pages, before[i]);
		struct hold hold = hold_folios(to, pages, kib, i * (nr - 1) / 2);
		struct snapshot *was = snapshot(to, pages);

		reclaim(to, pages, BY_MEMCG);
		expect_entries(was, to);
		expect_content(to, pages, SEED, 0);
		hold_end(&hold);
		reclaim(to, pages, BY_MEMCG);
		expect_old_or_zero(to, pages, 0);
		expect_writable(to, pages);
		range_drop(at, pages);
		range_drop(to, pages);
		free(was);
	}
}

static void check_part_dropped(unsigned long kib, const struct mask *mask,
			       const struct part *part)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, true);

	part_give(at, pages, kib, mask, part);
	reclaim(at, pages, BY_MEMCG);
	EXPECT(!pagemap_present(at, pages), "%s of %s pages: %zu stay mapped",
	       part->name, mask->name, pagemap_present(at, pages));
	if (part->prot >= 0 && mprotect(at, pages * PAGE_SIZE,
					PROT_READ | PROT_WRITE))
		die_errno("mprotect back");
	for (n = 0; n < pages; n++) {
		if (!part->gone || !masked(mask, n, kib))
			expect_zero(page_at(at, n), 1);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, part_dropped, LARGE_SIZES)
{
	for_each_part(kib, check_part_dropped);
}

static void check_part_held(unsigned long kib, const struct mask *mask,
			    const struct part *part)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, true);
	/* An extra reference to a page outside the mask. */
	struct snapshot *before;
	struct hold hold;

	for (n = 0; masked(mask, n, kib); n++)
		;
	hold = hold_folios(at, pages, kib, n);
	part_give(at, pages, kib, mask, part);
	before = snapshot(at, pages);
	reclaim(at, pages, BY_MEMCG);
	expect_entries(before, at);
	expect_part(at, pages, kib, mask, part);
	hold_end(&hold);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(lazyfree, part_held, LARGE_SIZES)
{
	for_each_part(kib, check_part_held);
}

/* Redirtied in one part; the other part is unmapped, or in another VMA. */
static void check_part_redirtied(unsigned long kib, const struct mask *mask,
				 const struct part *part)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, true);

	lazy_rewrite(at, pages, kib, MASK_ALL);
	part_give(at, pages, kib, mask, part);
	reclaim(at, pages, BY_MEMCG);
	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib))
			expect_content(page_at(at, n), 1, SEED_NEW, n);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, part_redirtied, LARGE_SIZES)
{
	for_each_part(kib, check_part_redirtied);
}
