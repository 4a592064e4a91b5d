// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of lazily freed folios after reclaim. Clean pages are dropped as a
 * whole. Pages written after MADV_FREE keep every byte.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/pattern.h"
#include "proc/proc.h"

QUIRE_CASE_SIZES(lazyfree, clean_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		for_each_mapping(by_pte, kib) {
			char *at = lazy_range(kib, by_pte);
			unsigned long freed = vmstat("pglazyfreed");

			reclaim(at, pages, how);
			EXPECT_EQ(vmstat("pglazyfreed") - freed, pages);
			expect_dropped(at, pages);
			expect_writable(at, pages);
			range_drop(at, pages);
		}
	}
}

/* Only read, before MADV_FREE and after it: still clean. */
QUIRE_CASE_SIZES(lazyfree, clean_read_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = lazy_range(kib, by_pte);

		expect_content(at, pages, SEED, 0);
		reclaim(at, pages, BY_PAGEOUT);
		expect_dropped(at, pages);
		range_drop(at, pages);
	}
}

static void check_redirtied(unsigned long kib, bool by_pte, enum how how,
			    const struct mask *mask)
{
	size_t pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);

	lazy_rewrite(at, pages, kib, mask);
	reclaim(at, pages, how);
	expect_survivors(at, pages, kib, mask);
	/* And again, now that part of it is swap-backed. */
	reclaim(at, pages, how);
	expect_survivors(at, pages, kib, mask);
	expect_writable(at, pages);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, redirtied_kept, ALL_SIZES)
{
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_redirtied(kib, by_pte, BY_PAGEOUT, mask);
	}
}

QUIRE_CASE_SIZES(lazyfree, redirtied_kept_memcg, ALL_SIZES)
{
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_redirtied(kib, by_pte, BY_MEMCG, mask);
	}
}

/* With swap, written pages may be swapped out and come back. */
QUIRE_CASE_SIZES(lazyfree, redirtied_swapped, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_redirtied(kib, by_pte, BY_PAGEOUT, mask);
	}
	/* Each CPU caches up to 64 free slots of swap, twice. */
	EXPECT(swap_used_kib() <= 128 * PAGE_KIB, "%lu KiB of swap are still in use",
	       swap_used_kib());
}

/* Redirtied as a whole: kept as a whole, then swapped out as any folio. */
QUIRE_CASE_SIZES(lazyfree, redirtied_whole, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	swap_on(SWAP_MIB);
	for_each_mapping(by_pte, kib) {
		char *at = lazy_range(kib, by_pte);
		struct snapshot *before;

		lazy_rewrite(at, pages, kib, MASK_ALL);
		before = snapshot(at, pages);
		reclaim(at, pages, BY_PAGEOUT);
		expect_entries(before, at);
		EXPECT_EQ(lazy_swapbacked(at, pages), pages);
		swap_out(at, pages);
		expect_content(at, pages, SEED_NEW, 0);
		range_drop(at, pages);
		free(before);
	}
}

/* One byte written in a page with old data: all of the page must be kept. */
static void check_bytes(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, false);

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			page_at(at, n)[n * 37 % PAGE_SIZE] ^= 0x55;
	}
	reclaim(at, pages, BY_PAGEOUT);
	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib)) {
			expect_old_or_zero(page_at(at, n), 1, n);
			continue;
		}
		page_at(at, n)[n * 37 % PAGE_SIZE] ^= 0x55;
		expect_content(page_at(at, n), 1, SEED, n);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, one_byte_kept, ALL_SIZES)
{
	for_each_mask(mask)
		check_bytes(kib, mask);
}

/* MADV_FREE of a folio that was redirtied and is swap-backed again. */
QUIRE_CASE_SIZES(lazyfree, freed_again, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = lazy_range(kib, by_pte);

		lazy_rewrite(at, pages, kib, MASK_ALL);
		reclaim(at, pages, BY_PAGEOUT);
		EXPECT_EQ(lazy_swapbacked(at, pages), pages);
		lazy_free(at, pages);
		reclaim(at, pages, BY_PAGEOUT);
		expect_dropped(at, pages);
		range_drop(at, pages);
	}
}

/* Only some folios of the range are redirtied. These stay; the others go. */
QUIRE_CASE_SIZES(lazyfree, every_other_folio, 4, 16, 64, 256)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		char *at = lazy_range(kib, false);

		for (n = nr - 1; n < pages; n += 2 * nr)
			pattern_write_page(page_at(at, n), SEED_NEW, n);
		reclaim(at, pages, how);
		for (n = nr - 1; n < pages; n += 2 * nr)
			expect_content(page_at(at, n), 1, SEED_NEW, n);
		for (n = nr; n < pages; n += 2 * nr)
			expect_dropped(page_at(at, n), nr);
		range_drop(at, pages);
	}
}
