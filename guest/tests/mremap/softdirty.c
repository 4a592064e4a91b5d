// SPDX-License-Identifier: GPL-2.0
/*
 * Soft-dirty. A process that is checkpointed by soft-dirty must find everything
 * that moved. So each entry that a move sets, of a page or of swap, is
 * soft-dirty afterwards.
 */
#include <stdlib.h>

#include "kernel/swap.h"
#include "memory/mask.h"
#include "memory/pattern.h"
#include "mremap.h"

#define SWAP_MIB	(64 * PAGE_SCALE)
#define DST		page_at(DST_BASE, BLOCK)

/* Clear all, write some: these must be soft-dirty, and no others. */
static void dirty_some(char *addr, size_t pages, const struct mask *mask)
{
	struct snapshot *now;
	size_t n;

	range_split_pmds(addr, pages);
	soft_dirty_where(addr, pages, BLOCK_KIB, mask);
	now = snapshot(addr, pages);
	for (n = 0; n < pages; n++) {
		const struct page_state *page = &now->page[n];

		if (page->present || page->swapped)
			EXPECT(page->soft_dirty == masked(mask, n, BLOCK_KIB),
			       "page %zu (written: %s): soft-dirty %d", n,
			       mask->name, page->soft_dirty);
	}
	free(now);
}

static void expect_all_soft_dirty(const char *addr, size_t pages)
{
	struct snapshot *now = snapshot(addr, pages);
	size_t n;

	for (n = 0; n < pages; n++) {
		if (now->page[n].present || now->page[n].swapped)
			EXPECT(now->page[n].soft_dirty,
			       "page %zu moved and is not soft-dirty", n);
	}
	free(now);
}

static void check_move(unsigned long kib, const struct mask *mask)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);

	dirty_some(from, pages, mask);
	move_and_check(from, pages, to);
	expect_all_soft_dirty(to, pages);
	expect_content(to, pages, SEED, 0);
	/* Tracking continues at the new place. */
	dirty_some(to, pages, mask);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, soft_dirty, ALL_SIZES)
{
	needs_soft_dirty();
	check_move(kib, &mask_none);
	for_each_mask(mask)
		check_move(kib, mask);
}

QUIRE_CASE_SIZES(mremap, soft_dirty_mixed_states, ALL_SIZES)
{
	size_t pages = mixed_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, 3), pages);

	needs_soft_dirty();
	swap_on(SWAP_MIB);
	mix_states(from, pages);
	dirty_some(from, pages, &mask_none);
	move_and_check(from, pages, to);
	expect_all_soft_dirty(to, pages);
	expect_mixed_content(to, pages);
	expect_writable(to, pages);
}

/* Part of a folio moves: only this part becomes soft-dirty. */
QUIRE_CASE_SIZES(mremap, soft_dirty_part, ALL_SIZES)
{
	size_t pages = range_pages(kib), first = 5, nr = BLOCK + 6;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, nr);
	struct snapshot *head, *tail;

	needs_soft_dirty();
	dirty_some(from, pages, MASK_EVEN);
	head = snapshot(from, first);
	tail = snapshot(page_at(from, first + nr), pages - first - nr);
	move(page_at(from, first), nr, to);
	expect_all_soft_dirty(to, nr);
	expect_unmoved(head, from);
	expect_unmoved(tail, page_at(from, first + nr));
	expect_content(to, nr, SEED, first);
	free(head);
	free(tail);
}
