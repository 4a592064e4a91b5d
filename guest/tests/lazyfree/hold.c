// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim that fails because of an extra reference to the folio. It must change
 * nothing. Once the reference is gone, reclaim succeeds.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/pin.h"
#include "kernel/swap.h"
#include "lazyfree.h"
#include "proc/proc.h"
#include "report/die.h"

/* The page of a folio to which the reference is taken; any page will do. */
static const struct mask *const positions[] = {
	&masks[0], &masks[1], &masks[2],
};

static size_t position(const struct mask *mask, unsigned long kib)
{
	size_t page = 0;

	while (!mask->has(page, folio_pages(kib)))
		page++;
	return page;
}

static void check_held(unsigned long kib, bool by_pte, enum how how,
		       const struct mask *where, bool loose)
{
	size_t kept, pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);
	struct hold hold = hold_folios(at, pages, kib, position(where, kib));
	struct snapshot *before;

	if (loose)
		lazy_unfold(at, pages);
	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, how);
	expect_entries(before, at);
	expect_content(at, kept, SEED, 0);
	/*
	 * A pipe may be too small for all folios; the rest has no extra
	 * reference.
	 */
	expect_dropped(page_at(at, kept), pages - kept);
	hold_end(&hold);
	expect_entries(before, at);
	reclaim(at, pages, how);
	expect_old_or_zero(at, kept, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(lazyfree, held_unchanged, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(positions); i++) {
		for_each_mapping(by_pte, kib) {
			check_held(kib, by_pte, BY_PAGEOUT, positions[i], false);
			check_held(kib, by_pte, BY_MEMCG, positions[i], false);
		}
	}
}

/* The entries that are put back may become blocks that they were not. */
QUIRE_CASE_SIZES(lazyfree, held_loose, 64, 256, 1024)
{
	check_held(kib, true, BY_PAGEOUT, positions[0], true);
	check_held(kib, true, BY_MEMCG, positions[0], true);
}

/*
 * A folio that had an extra reference is still lazyfree, and its pages are
 * still clean, so it can be dropped later without swap. Stock 6.12 makes it
 * swap-backed.
 */
static void check_stays_lazyfree(unsigned long kib, bool by_pte, enum how how)
{
	size_t kept, pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);
	struct hold hold = hold_folios(at, pages, kib, 0);
	unsigned long out = vmstat("pswpout");

	kept = hold.held * folio_pages(kib);
	reclaim(at, pages, how);
	EXPECT_EQ(lazy_swapbacked(at, kept), 0);
	EXPECT_EQ(smaps_kib(at, "LazyFree"), kept * PAGE_SIZE / KIB);
	hold_end(&hold);
	reclaim(at, pages, how);
	/* Reclaim of the cgroup may swap out other memory of this process. */
	if (how == BY_PAGEOUT)
		EXPECT_EQ(vmstat("pswpout") - out, 0);
	expect_dropped(at, pages);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES_TAGGED(lazyfree, held_stays_lazyfree, SERIES, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mapping(by_pte, kib) {
		check_stays_lazyfree(kib, by_pte, BY_PAGEOUT);
		check_stays_lazyfree(kib, by_pte, BY_MEMCG);
	}
}

/*
 * Page `index` of each folio holds what was written through its pin, the others
 * are as they were.
 */
static void expect_pinned(char *at, size_t pages, size_t nr, size_t index)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (n % nr == index)
			expect_content(page_at(at, n), 1, PIN_SEED, n / nr);
		else
			expect_content(page_at(at, n), 1, SEED, n);
	}
}

/*
 * The owner of a pin for writing may write to the pages at any time without
 * marking them dirty. So the folio must be kept: it becomes swap-backed.
 */
static void check_pinned(unsigned long kib, bool by_pte, enum how how)
{
	size_t nr = folio_pages(kib), pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);
	struct pin *pin = pin_folios_written(at, pages, kib, nr / 2);
	size_t kept = pin_count(pin) * nr;

	reclaim(at, pages, how);
	EXPECT_EQ(lazy_swapbacked(at, kept), kept);
	pin_end(pin);
	reclaim(at, pages, how);
	expect_pinned(at, kept, nr, nr / 2);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, pinned_becomes_swapbacked, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mapping(by_pte, kib) {
		check_pinned(kib, by_pte, BY_PAGEOUT);
		check_pinned(kib, by_pte, BY_MEMCG);
	}
}

/* Nor is a pinned folio dropped that MADV_FREE takes: it could be written to later. */
QUIRE_CASE_SIZES_TAGGED(lazyfree, pinned_not_freed, SERIES, ALL_SIZES)
{
	size_t kept, pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = range_charged(kib, by_pte);
		struct pin *pin = pin_folios(at, pages, kib, 0);

		kept = pin_count(pin) * folio_pages(kib);
		if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
			die_errno("MADV_FREE of %zu pages at %p", pages, at);
		env_drain_lru();
		pin_end(pin);
		reclaim(at, pages, BY_PAGEOUT);
		EXPECT_EQ(lazy_swapbacked(at, kept), kept);
		expect_content(at, kept, SEED, 0);
		range_drop(at, pages);
	}
}

/* An extra reference and redirtied: kept, and swap-backed from then on. */
static void check_held_redirtied(unsigned long kib, bool by_pte,
				 const struct mask *mask, bool differ)
{
	size_t kept, pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);
	struct snapshot *before;
	struct hold hold;

	/* The pages that are not written again stay write-protected */
	if (differ)
		pagemap_clear_soft_dirty();
	lazy_rewrite(at, pages, kib, mask);
	hold = hold_folios(at, pages, kib, folio_pages(kib) - 1);
	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, BY_PAGEOUT);
	expect_entries(before, at);
	EXPECT_EQ(lazy_swapbacked(at, kept), kept);
	hold_end(&hold);
	expect_survivors(at, pages, kib, mask);
	reclaim(at, pages, BY_PAGEOUT);
	expect_survivors(at, pages, kib, mask);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(lazyfree, held_redirtied, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_held_redirtied(kib, by_pte, mask, false);
	}
}

/* The pages that were written to differ from the first in other bits, too. */
QUIRE_CASE_SIZES(lazyfree, held_redirtied_differ, ALL_SIZES)
{
	needs_soft_dirty();
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_held_redirtied(kib, by_pte, mask, true);
	}
}

/* Redirtied while the reference exists, after a first failure. */
QUIRE_CASE_SIZES(lazyfree, held_then_redirtied, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = lazy_range(kib, false);
		struct hold hold = hold_folios(at, pages, kib, 0);
		size_t kept = hold.held * folio_pages(kib);

		reclaim(at, pages, BY_PAGEOUT);
		lazy_rewrite(at, kept, kib, mask);
		hold_end(&hold);
		reclaim(at, pages, BY_PAGEOUT);
		expect_survivors(at, kept, kib, mask);
		range_drop(at, pages);
	}
}

/* The held pages keep their contents when the mapping is gone. */
QUIRE_CASE_SIZES(lazyfree, held_content, ALL_SIZES)
{
	static char page[MOST_PAGE_SIZE];
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = lazy_range(kib, by_pte);
		struct hold hold = hold_folios(at, pages, kib, nr / 2);
		unsigned int held = hold.held;

		reclaim(at, pages, BY_MEMCG);
		range_drop(at, pages);
		for (n = 0; n < held; n++) {
			hold_read(&hold, page);
			expect_content(page, 1, SEED, n * nr + nr / 2);
		}
		hold_end(&hold);
	}
}
