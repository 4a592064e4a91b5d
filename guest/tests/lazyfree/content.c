// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of lazily freed folios after reclaim. Clean pages are dropped as a
 * whole. Pages written after MADV_FREE keep every byte.
 */
#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/pattern.h"
#include "proc/proc.h"

TRIAL_CASE(lazyfree, clean_dropped, lazy, HOWS | MAPPINGS, ALL_SIZES)
{
	unsigned long freed = vmstat("pglazyfreed");

	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(vmstat("pglazyfreed") - freed, t->pages);
	expect_dropped(t->at, t->pages);
	expect_writable(t->at, t->pages);
}

/* Only read, before MADV_FREE and after it: still clean. */
TRIAL_CASE(lazyfree, clean_read_dropped, lazy, MAPPINGS, ALL_SIZES)
{
	expect_content(t->at, t->pages, SEED, 0);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_dropped(t->at, t->pages);
}

static void check_redirtied(struct trial *t)
{
	lazy_rewrite(t->at, t->pages, t->kib, t->mask);
	reclaim(t->at, t->pages, t->how);
	expect_survivors(t->at, t->pages, t->kib, t->mask);
	/* And again, now that part of it is swap-backed. */
	reclaim(t->at, t->pages, t->how);
	expect_survivors(t->at, t->pages, t->kib, t->mask);
	expect_writable(t->at, t->pages);
}

CALL_TRIAL_CASE(lazyfree, redirtied_kept, lazy, MASKS | MAPPINGS,
		check_redirtied(t), ALL_SIZES)

TRIAL_CASE(lazyfree, redirtied_kept_memcg, lazy, MASKS | MAPPINGS, ALL_SIZES)
{
	t->how = BY_MEMCG;
	check_redirtied(t);
}

/* With swap, written pages may be swapped out and come back. */
QUIRE_CASE_SIZES(lazyfree, redirtied_swapped, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	trials_run(&lazy, MASKS | MAPPINGS, kib, check_redirtied);
	/* Each CPU caches up to 64 free slots of swap, twice. */
	EXPECT(swap_used_kib() <= 128 * PAGE_KIB, "%lu KiB of swap are still in use",
	       swap_used_kib());
}

/* Redirtied as a whole: kept as a whole, then swapped out as any folio. */
TRIAL_CASE(lazyfree, redirtied_whole, lazy_with_swap, MAPPINGS, ALL_SIZES)
{
	lazy_rewrite(t->at, t->pages, t->kib, MASK_ALL);
	t->before = snapshot(t->at, t->pages);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_entries(t->before, t->at);
	EXPECT_EQ(lazy_swapbacked(t->at, t->pages), t->pages);
	swap_out(t->at, t->pages);
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

/* One byte written in a page with old data: all of the page must be kept. */
TRIAL_CASE(lazyfree, one_byte_kept, lazy, MASKS | MAPPINGS, ALL_SIZES)
{
	size_t n;

	for (n = 0; n < t->pages; n++) {
		if (masked(t->mask, n, t->kib))
			page_at(t->at, n)[n * 37 % PAGE_SIZE] ^= 0x55;
	}
	reclaim(t->at, t->pages, BY_PAGEOUT);
	for (n = 0; n < t->pages; n++) {
		if (!masked(t->mask, n, t->kib)) {
			expect_old_or_zero(page_at(t->at, n), 1, n);
			continue;
		}
		page_at(t->at, n)[n * 37 % PAGE_SIZE] ^= 0x55;
		expect_content(page_at(t->at, n), 1, SEED, n);
	}
}

/* MADV_FREE of a folio that was redirtied and is swap-backed again. */
TRIAL_CASE(lazyfree, freed_again, lazy, MAPPINGS, ALL_SIZES)
{
	lazy_rewrite(t->at, t->pages, t->kib, MASK_ALL);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	EXPECT_EQ(lazy_swapbacked(t->at, t->pages), t->pages);
	lazy_free(t->at, t->pages);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_dropped(t->at, t->pages);
}

/* Only some folios of the range are redirtied. These stay; the others go. */
TRIAL_CASE(lazyfree, every_other_folio, lazy, HOWS, 4, 16, 64, 256)
{
	size_t n, nr = folio_pages(t->kib);

	for (n = nr - 1; n < t->pages; n += 2 * nr)
		pattern_write_page(page_at(t->at, n), SEED_NEW, n);
	reclaim(t->at, t->pages, t->how);
	for (n = nr - 1; n < t->pages; n += 2 * nr)
		expect_content(page_at(t->at, n), 1, SEED_NEW, n);
	for (n = nr; n < t->pages; n += 2 * nr)
		expect_dropped(page_at(t->at, n), nr);
}
