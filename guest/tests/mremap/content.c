// SPDX-License-Identifier: GPL-2.0
/*
 * A move keeps the order and contents of pages, swap entries and holes.
 * Destinations are aligned to a block, not to 2 MiB, so that PTEs are moved and
 * not whole page tables.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/folio.h"
#include "mremap.h"
#include "proc/proc.h"

#define DST		page_at(DST_BASE, BLOCK)

MOVE_CASE(whole_folios, ALL_SIZES)
{
	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/*
 * Folios that are moved again: by a whole block, and back to where they were.
 */
MOVE_CASE(there_and_back, ALL_SIZES)
{
	struct snapshot *before = snapshot(from, pages);
	size_t total;
	int turn;

	for (turn = 0; turn < 10; turn++) {
		move_and_check(from, pages, to);
		move_and_check(to, pages, from);
	}
	expect_changed(before, from, MOVED);
	EXPECT_EQ(folio_count(from, pages * PAGE_SIZE, kib, &total), total);
	expect_content(from, pages, SEED, 0);
	expect_writable(from, pages);
	free(before);
}

MOVE_CASE(all_swapped, ALL_SIZES)
{
	swap_on(SWAP_FOR_TESTS);
	swap_out(from, pages);
	move_and_check(from, pages, to);
	EXPECT_EQ(pagemap_swapped(to, pages), pages);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/* Every second block is swapped out or swapped in again, page by page. */
MOVE_CASE(partly_swapped_in, ALL_SIZES)
{
	size_t n;
	uint64_t word;

	swap_on(SWAP_FOR_TESTS);
	swap_out(from, pages);
	for (n = 0; n < pages; n += 3)
		EXPECT(!probe_read(page_at(from, n), &word), "swap-in failed");
	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/* One page of each block is present, a different one each time. */
MOVE_CASE(sparse, ALL_SIZES)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (n % BLOCK != n / BLOCK % BLOCK &&
		    madvise(page_at(from, n), PAGE_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED of page %zu", n);
	}
	move_and_check(from, pages, to);
	for (n = 0; n < pages; n++) {
		if (n % BLOCK == n / BLOCK % BLOCK)
			expect_content(page_at(to, n), 1, SEED, n);
		else
			expect_zero(page_at(to, n), 1);
	}
	expect_writable(to, pages);
}

/*
 * Pages that were only read map the zero page: PTEs with the same pfn side by
 * side, between pages of folios.
 */
MOVE_CASE(zero_pages, ALL_SIZES)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (n / 2 % 2 && madvise(page_at(from, n), PAGE_SIZE,
					 MADV_DONTNEED))
			die_errno("MADV_DONTNEED of page %zu", n);
	}
	for (n = 0; n < pages; n++)
		if (n / 2 % 2)
			expect_zero(page_at(from, n), 1);
	move_and_check(from, pages, to);
	for (n = 0; n < pages; n++) {
		if (n / 2 % 2)
			expect_zero(page_at(to, n), 1);
		else
			expect_content(page_at(to, n), 1, SEED, n);
	}
	expect_writable(to, pages);
}

QUIRE_CASE_SIZES(mremap, grow, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, 2 * pages);
	struct snapshot *before = snapshot(from, pages);

	move_full(from, pages, 2 * pages, 0, to);
	expect_changed(before, to, MOVED);
	expect_empty(page_at(to, pages), pages);
	expect_gone(from, pages);
	expect_content(to, pages, SEED, 0);
	expect_zero(page_at(to, pages), pages);
	expect_writable(to, 2 * pages);
	free(before);
}

/* Only the first pages of the range are kept and moved: part of a folio. */
QUIRE_CASE_SIZES(mremap, shrink, ALL_SIZES)
{
	size_t pages = range_pages(kib), kept = pages / 2 + BLOCK / 2;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, kept);
	struct snapshot *before = snapshot(from, kept);

	move_full(from, pages, kept, 0, to);
	expect_changed(before, to, MOVED);
	expect_gone(from, pages);
	expect_content(to, kept, SEED, 0);
	expect_writable(to, kept);
	free(before);
}

/* The move unmaps everything at the destination. */
QUIRE_CASE_SIZES(mremap, over_another_mapping, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_filled(DST_BASE, pages, kib);
	struct snapshot *before = snapshot(from, pages);

	expect_writable(to, pages);
	move(from, pages, to);
	expect_changed(before, to, MOVED);
	expect_gone(from, pages);
	expect_content(to, pages, SEED, 0);
	EXPECT_EQ(smaps_kib(to, "Rss"), pages * PAGE_SIZE / KIB);
	expect_writable(to, pages);
	free(before);
}

/* The old range stays mapped, is empty, and can be used again. */
static void check_dontunmap(char *from, size_t pages, char *to)
{
	struct snapshot *before = snapshot(from, pages);

	move_full(from, pages, pages, MREMAP_DONTUNMAP, to);
	expect_empty(from, pages);
	expect_changed(before, to, MOVED);
	expect_zero(from, pages);
	expect_writable(from, pages);
	free(before);
}

MOVE_CASE(dontunmap, ALL_SIZES)
{
	check_dontunmap(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/* The same with pages in all states, and three times from the same range. */
QUIRE_CASE_SIZES(mremap, dontunmap_mixed, ALL_SIZES)
{
	size_t pages = mixed_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	char *again = range_hole(DST2_BASE, pages);

	swap_on(SWAP_FOR_TESTS);
	mix_states(from, pages);
	check_dontunmap(from, pages, to);
	expect_mixed_content(to, pages);
	range_advise(from, pages, MADV_DONTNEED);
	range_fill(from, pages, kib, SEED);
	check_dontunmap(from, pages, again);
	expect_content(again, pages, SEED, 0);
	expect_mixed_content(to, pages);
}
