// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that cross the end of a page table or of a VMA, or are partially
 * mapped. A batch of PTEs must end there.
 */
#include <sys/mman.h>

#include "lazyfree.h"
#include "memory/share.h"

static size_t below;	/* so many pages are below the end of a page table */

static void check_across(struct trial *t)
{
	char *from = t->at;
	unsigned long splits;

	move(from, t->pages, trial_goes(t, page_at(DST_BASE, PMD_PAGES - below)));
	lazy_rewrite(t->at, t->pages, t->kib, t->mask);
	splits = lazy_splits(t->kib);
	reclaim(t->at, t->pages, BY_MEMCG);
	if (t->mask == &mask_none) {
		expect_dropped(t->at, t->pages);
		EXPECT_EQ(lazy_splits(t->kib), splits);
	} else {
		expect_survivors(t->at, t->pages, t->kib, t->mask);
	}
	expect_writable(t->at, t->pages);
}

QUIRE_CASE_SIZES(lazyfree, across_pmd, LARGE_SIZES)
{
	const size_t places[] = { 1, folio_pages(kib) / 2, folio_pages(kib) - 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		below = places[i];
		trials_run(&lazy, MASKS | NONE_TOO, kib, check_across);
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
