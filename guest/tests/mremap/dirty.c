// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty bits move with the PTEs. A lost dirty bit loses data at the next reclaim.
 * The kernel may set a bit for all pages of a folio, or of a block, if one of
 * them had it: the hardware keeps one bit per contpte block, too.
 */
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "tests/lazyfree/lazyfree.h"

#define DST		page_at(DST_BASE, BLOCK)

static bool is_zero(const char *page)
{
	return pattern_verify_zero(page, PAGE_SIZE) < 0;
}

/* Pages that were not written stay clean, and reclaim can drop them. */
MOVE_CASE(lazyfree_clean, ALL_SIZES)
{
	size_t n;

	swap_on(SWAP_MIB);
	range_split_pmds(from, pages);
	lazy_free(from, pages);
	EXPECT_EQ(smaps_kib(from, "LazyFree"), pages * PAGE_SIZE / KIB);
	move_and_check(from, pages, to);
	EXPECT_EQ(smaps_kib(to, "LazyFree"), pages * PAGE_SIZE / KIB);
	page_out(to, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(to, pages), 0);
	for (n = 0; n < pages; n++) {
		if (!is_zero(page_at(to, n)))
			expect_content(page_at(to, n), 1, SEED, n);
	}
	expect_writable(to, pages);
}

/*
 * Clean at the move; then some pages of each block are written at the new
 * place.
 */
QUIRE_CASE_SIZES(mremap, lazyfree_written_after, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, 5), pages);

	swap_on(SWAP_MIB);
	range_split_pmds(from, pages);
	lazy_free(from, pages);
	EXPECT_EQ(smaps_kib(from, "LazyFree"), pages * PAGE_SIZE / KIB);
	move_and_check(from, pages, to);
	for (n = 0; n < pages; n += 7)
		pattern_write_page(page_at(to, n), SEED_NEW, n);
	page_out(to, pages * PAGE_SIZE);
	move_and_check(to, pages, from);
	for (n = 0; n < pages; n++) {
		if (n % 7 == 0)
			expect_content(page_at(from, n), 1, SEED_NEW, n);
		else if (!is_zero(page_at(from, n)))
			expect_content(page_at(from, n), 1, SEED, n);
	}
	expect_writable(from, pages);
}

/* Anonymous memory that is reclaimed after a move comes back from swap. */
QUIRE_CASE_SIZES(mremap, reclaimed_after_move, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, 3), pages);

	swap_on(SWAP_MIB);
	move_and_check(from, pages, to);
	swap_out(to, pages);
	expect_content(to, pages, SEED, 0);
	swap_out(to, pages);
	move_and_check(to, pages, from);
	expect_content(from, pages, SEED, 0);
	expect_writable(from, pages);
}

/*
 * Pages of a hole that were only read are clean, and writable without a fault.
 * Then some are written: only the dirty bit in their PTEs shows that.
 */
static void clean_then_written(unsigned long kib, size_t written)
{
	size_t n, pages = range_pages(kib);
	char *from = range_hole(SRC_BASE, pages);
	char *to = range_hole(DST, pages);
	unsigned long clean;

	folio_want_shmem(kib == PMD_KIB ? PMD_KIB / 2 : kib);
	map_or_die(from, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	expect_zero(from, pages);
	clean = smaps_kib(from, "Private_Clean");
	EXPECT_EQ(clean, pages * PAGE_SIZE / KIB);
	move_and_check(from, pages, to);
	EXPECT_EQ(smaps_kib(to, "Private_Clean"), clean);
	EXPECT_EQ(smaps_kib(to, "Private_Dirty"), 0);
	for (n = written; n < pages; n += BLOCK)
		pattern_write_page(page_at(to, n), SEED, n);
	clean = smaps_kib(to, "Private_Clean");
	move_and_check(to, pages, from);
	EXPECT(smaps_kib(from, "Private_Clean") <= clean,
	       "%lu KiB are clean after the move, %lu KiB were before",
	       smaps_kib(from, "Private_Clean"), clean);
	page_out(from, pages * PAGE_SIZE);
	for (n = 0; n < pages; n++) {
		if (n % BLOCK == written)
			expect_content(page_at(from, n), 1, SEED, n);
		else
			expect_zero(page_at(from, n), 1);
	}
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, file_clean_then_written, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	clean_then_written(kib, 0);
	clean_then_written(kib, 7);
	clean_then_written(kib, BLOCK - 1);
}

