// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that cross the end of a page table or of a VMA, or are partially
 * mapped. A batch of PTEs must end there.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "lazyfree.h"
#include "memory/share.h"

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

TRIAL_CASE(lazyfree, part_dropped, lazy, PARTS, LARGE_SIZES)
{
	size_t n;

	part_give(t->at, t->pages, t->kib, t->mask, t->part);
	reclaim(t->at, t->pages, BY_MEMCG);
	EXPECT(!pagemap_present(t->at, t->pages),
	       "%s of %s pages: %zu stay mapped", t->part->name, t->mask->name,
		pagemap_present(t->at, t->pages));
	if (t->part->prot >= 0 && mprotect(t->at, t->pages * PAGE_SIZE,
					PROT_READ | PROT_WRITE))
		die_errno("mprotect back");
	for (n = 0; n < t->pages; n++) {
		if (!t->part->gone || !masked(t->mask, n, t->kib))
			expect_zero(page_at(t->at, n), 1);
	}
}

TRIAL_CASE(lazyfree, part_held, lazy, PARTS, LARGE_SIZES)
{
	size_t n;
	/* An extra reference to a page outside the mask. */

	for (n = 0; masked(t->mask, n, t->kib); n++)
		;
	t->hold = hold_folios(t->at, t->pages, t->kib, n);
	part_give(t->at, t->pages, t->kib, t->mask, t->part);
	t->before = snapshot(t->at, t->pages);
	reclaim(t->at, t->pages, BY_MEMCG);
	expect_entries(t->before, t->at);
	expect_part(t->at, t->pages, t->kib, t->mask, t->part);
	hold_end(&t->hold);
}

/* Redirtied in one part; the other part is unmapped, or in another VMA. */
TRIAL_CASE(lazyfree, part_redirtied, lazy, PARTS, LARGE_SIZES)
{
	lazy_rewrite(t->at, t->pages, t->kib, MASK_ALL);
	part_give(t->at, t->pages, t->kib, t->mask, t->part);
	reclaim(t->at, t->pages, BY_MEMCG);
	expect_shared(t->at, t->pages, t->kib, t->mask, SEED_NEW);
}
