// SPDX-License-Identifier: GPL-2.0
/*
 * Moves with any alignment: that start or end inside a folio, whose destination
 * does not have the folio's natural alignment, and that cross the 2 MiB of one
 * page table.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "mremap.h"

/* Destinations one, three, ... pages off the alignment of source and block. */

static void check_shift(size_t pages, unsigned long kib, size_t shift)
{
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, shift), pages);

	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	move_and_check(to, pages, from);
	expect_content(from, pages, SEED, 0);
	expect_writable(from, pages);
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, unaligned_destination, ALL_SIZES)
{
	const size_t shifts[] = { 1, 3, 8, BLOCK - 1, PMD_PAGES - 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shifts); i++)
		check_shift(range_pages(kib), kib, shifts[i]);
}

QUIRE_CASE_SIZES(mremap, unaligned_mixed_states, ALL_SIZES)
{
	size_t pages = mixed_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, 3), pages);
	char *again = range_hole(page_at(DST2_BASE, BLOCK + 5), pages);

	swap_on(SWAP_FOR_TESTS);
	mix_states(from, pages);
	move_and_check(from, pages, to);
	move_and_check(to, pages, again);
	expect_mixed_content(again, pages);
	expect_writable(again, pages);
}

/* Moves `nr` pages from page `first` on; the rest must not change. */
static void check_part(char *from, size_t pages, size_t first, size_t nr,
		       char *to)
{
	struct snapshot *head = snapshot(from, first);
	struct snapshot *part = snapshot(page_at(from, first), nr);
	struct snapshot *tail = snapshot(page_at(from, first + nr),
					 pages - first - nr);

	move(page_at(from, first), nr, to);
	expect_changed(part, to, MOVED);
	expect_entries(head, from);
	expect_entries(tail, page_at(from, first + nr));
	expect_gone(page_at(from, first), nr);
	expect_content(from, first, SEED, 0);
	expect_content(to, nr, SEED, first);
	expect_content(page_at(from, first + nr), pages - first - nr, SEED,
		       first + nr);
	expect_writable(from, first);
	expect_writable(to, nr);
	expect_writable(page_at(from, first + nr), pages - first - nr);
	free(head);
	free(part);
	free(tail);
}

QUIRE_CASE_SIZES(mremap, part_of_range, ALL_SIZES)
{
	const size_t half = BLOCK / 2;

	const struct {
		size_t first, nr;
	} parts[] = {
		{ 0, 1 }, { 0, half }, { half, half }, { 5, 1 }, { 3, 10 },
		{ BLOCK - 1, 1 }, { BLOCK - 1, 2 }, { 1, 2 * BLOCK - 2 },
		{ half, 3 * half }, { BLOCK, BLOCK }, { 13, 2 * BLOCK + 3 },
	};
	size_t i, pages = range_pages(kib);

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(page_at(DST_BASE, parts[i].first),
				      parts[i].nr);

		check_part(from, pages, parts[i].first, parts[i].nr, to);
		expect_guards();
		range_drop(from, pages);
		range_drop(to, parts[i].nr);
	}
}

/* Part of a folio moves: only this part becomes soft-dirty. */
QUIRE_CASE_SIZES(mremap, soft_dirty_part, ALL_SIZES)
{
	size_t pages = range_pages(kib), nr = BLOCK + 6;
	char *from = range_by_ptes(kib);

	needs_soft_dirty();
	soft_dirty_where(from, pages, BLOCK_KIB, MASK_EVEN);
	check_part(from, pages, 5, nr, range_hole(page_at(DST_BASE, BLOCK), nr));
}

/* Moves the halves of each block to different places, then together again. */
QUIRE_CASE_SIZES(mremap, halves_apart_and_together, ALL_SIZES)
{
	size_t n, half = BLOCK / 2, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *low = range_hole(DST_BASE, pages);
	char *high = range_hole(DST2_BASE, pages);
	struct snapshot *before = snapshot(from, pages);

	for (n = 0; n < pages; n += 2 * half) {
		move(page_at(from, n), half, page_at(low, n));
		move(page_at(from, n + half), half, page_at(high, n + half));
		expect_content(page_at(low, n), half, SEED, n);
		expect_content(page_at(high, n + half), half, SEED, n + half);
	}
	expect_gone(from, pages);
	for (n = 0; n < pages; n += 2 * half) {
		move(page_at(high, n + half), half, page_at(from, n + half));
		move(page_at(low, n), half, page_at(from, n));
	}
	expect_changed(before, from, MOVED);
	expect_content(from, pages, SEED, 0);
	/* As one range again, where the kernel could merge the VMAs. */
	if (mremap(from, pages * PAGE_SIZE, pages * PAGE_SIZE,
		   MREMAP_MAYMOVE | MREMAP_FIXED, low) == low)
		expect_changed(before, low, MOVED);
	else
		low = from;
	expect_content(low, pages, SEED, 0);
	expect_writable(low, pages);
	free(before);
}

/*
 * The halves of each block in the wrong order: pfns jump back inside a block.
 */
QUIRE_CASE_SIZES(mremap, halves_swapped, ALL_SIZES)
{
	size_t n, half = BLOCK / 2, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST_BASE, pages);
	char *again = range_hole(page_at(DST2_BASE, BLOCK), pages);

	for (n = 0; n < pages; n += 2 * half) {
		move(page_at(from, n), half, page_at(to, n + half));
		move(page_at(from, n + half), half, page_at(to, n));
	}
	for (n = 0; n < pages; n += half) {
		move(page_at(to, n), half, page_at(again, n));
		expect_content(page_at(again, n), half, SEED, n ^ half);
		expect_writable(page_at(again, n), half);
	}
	expect_gone(to, pages);
}

/* How many pages of the range lie before the 2 MiB boundary. */
/* Pages between the start and the boundary: the number-th of NR_BEFORE. */
static size_t before_pmd(size_t number)
{
	const size_t pages[] = {
		1, 7, BLOCK / 2, BLOCK - 1, BLOCK, BLOCK / 2 * 3,
	};

	return pages[number];
}

#define NR_BEFORE	6u

static void check_straddle(unsigned long kib, size_t before, size_t final_shift)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *across = range_hole(page_at(DST_BASE, PMD_PAGES - before), pages);
	char *to = range_hole(page_at(DST2_BASE, final_shift), pages);

	move_and_check(from, pages, across);
	expect_content(across, pages, SEED, 0);
	/* Now folios cross a boundary at the source. */
	move_and_check(across, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	range_drop(from, pages);
	range_drop(across, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, across_pmd, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < NR_BEFORE; i++)
		check_straddle(kib, before_pmd(i), BLOCK);
}

/* Source and destination cross a boundary, at the same page or not. */
QUIRE_CASE_SIZES(mremap, across_two_pmds, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < NR_BEFORE; i++) {
		check_straddle(kib, before_pmd(i), PMD_PAGES - 5);
		check_straddle(kib, before_pmd(i), PMD_PAGES - before_pmd(i));
	}
}

/* Long ranges: single PTEs, then whole page tables, then single PTEs again. */
QUIRE_CASE_SIZES(mremap, tables_and_entries, ALL_SIZES)
{
	size_t pages = 2 * PMD_PAGES + range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, PMD_PAGES), pages);
	char *again = range_hole(page_at(DST2_BASE, BLOCK), pages);

	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	move_and_check(to, pages, again);
	move_and_check(again, pages, page_at(from, 0));
	expect_content(from, pages, SEED, 0);
	expect_writable(from, pages);
}
