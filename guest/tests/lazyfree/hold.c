// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim that fails because of an extra reference to the folio. It must change
 * nothing. Once the reference is gone, reclaim succeeds.
 */
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/pin.h"
#include "lazyfree.h"
#include "proc/proc.h"

static void check_held(struct trial *t, bool loose)
{
	size_t kept = trial_holds(t, mask_first(t->mask, t->kib));

	if (loose)
		lazy_unfold(t->at, t->pages);
	t->before = snapshot(t->at, kept);
	reclaim(t->at, t->pages, t->how);
	expect_entries(t->before, t->at);
	expect_content(t->at, kept, SEED, 0);
	/*
	 * A pipe may be too small for all folios; the rest has no extra
	 * reference.
	 */
	expect_dropped(page_at(t->at, kept), t->pages - kept);
	hold_end(&t->hold);
	expect_entries(t->before, t->at);
	reclaim(t->at, t->pages, t->how);
	expect_old_or_zero(t->at, kept, 0);
	expect_writable(t->at, t->pages);
}

CALL_TRIAL_CASE(lazyfree, held_unchanged, lazy, PLACES | MAPPINGS | HOWS,
		check_held(t, false), ALL_SIZES)

/* The entries that are put back may become blocks that they were not. */
CALL_TRIAL_CASE(lazyfree, held_loose, lazy, HOWS, check_held(t, true), 64, 256, 1024)

/*
 * A folio that had an extra reference is still lazyfree, and its pages are
 * still clean, so it can be dropped later without swap. Stock 6.12 makes it
 * swap-backed.
 */
TAGGED_TRIAL_CASE(lazyfree, held_stays_lazyfree, SERIES, lazy_with_swap, MAPPINGS | HOWS,
		  ALL_SIZES)
{
	size_t kept = trial_holds(t, 0);
	unsigned long out = vmstat("pswpout");

	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(lazy_swapbacked(t->at, kept), 0);
	EXPECT_EQ(smaps_kib(t->at, "LazyFree"), kept * PAGE_SIZE / KIB);
	hold_end(&t->hold);
	reclaim(t->at, t->pages, t->how);
	/* Reclaim of the cgroup may swap out other memory of this process. */
	if (t->how == BY_PAGEOUT)
		EXPECT_EQ(vmstat("pswpout") - out, 0);
	expect_dropped(t->at, t->pages);
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
TRIAL_CASE(lazyfree, pinned_becomes_swapbacked, lazy_with_swap, MAPPINGS | HOWS,
	   ALL_SIZES)
{
	size_t nr = folio_pages(t->kib);
	struct pin *pin = pin_folios_written(t->at, t->pages, t->kib, nr / 2);
	size_t kept = pin_count(pin) * nr;

	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(lazy_swapbacked(t->at, kept), kept);
	pin_end(pin);
	reclaim(t->at, t->pages, t->how);
	expect_pinned(t->at, kept, nr, nr / 2);
}

/* Nor is a pinned folio dropped that MADV_FREE takes: it could be written to later. */
TAGGED_TRIAL_CASE(lazyfree, pinned_not_freed, SERIES, charged, MAPPINGS,
		  ALL_SIZES)
{
	size_t kept;
	struct pin *pin = pin_folios(t->at, t->pages, t->kib, 0);

	kept = pin_count(pin) * folio_pages(t->kib);
	range_advise(t->at, t->pages, MADV_FREE);
	env_drain_lru();
	pin_end(pin);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	EXPECT_EQ(lazy_swapbacked(t->at, kept), kept);
	expect_content(t->at, kept, SEED, 0);
}

/* An extra reference and redirtied: kept, and swap-backed from then on. */
static void check_held_redirtied(struct trial *t, bool differ)
{
	size_t kept;

	/* The pages that are not written again stay write-protected */
	if (differ)
		pagemap_clear_soft_dirty();
	lazy_rewrite(t->at, t->pages, t->kib, t->mask);
	kept = trial_holds(t, folio_pages(t->kib) - 1);
	t->before = snapshot(t->at, kept);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_entries(t->before, t->at);
	EXPECT_EQ(lazy_swapbacked(t->at, kept), kept);
	hold_end(&t->hold);
	expect_survivors(t->at, t->pages, t->kib, t->mask);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_survivors(t->at, t->pages, t->kib, t->mask);
}

CALL_TRIAL_CASE(lazyfree, held_redirtied, lazy_with_swap, MASKS | MAPPINGS,
		check_held_redirtied(t, false), ALL_SIZES)

/* The pages that were written to differ from the first in other bits, too. */
TRIAL_CASE(lazyfree, held_redirtied_differ, lazy_with_swap, MASKS | MAPPINGS,
	   ALL_SIZES)
{
	needs_soft_dirty();
	check_held_redirtied(t, true);
}

/* Redirtied while the reference exists, after a first failure. */
TRIAL_CASE(lazyfree, held_then_redirtied, lazy, MASKS | MAPPINGS, ALL_SIZES)
{
	size_t kept = trial_holds(t, 0);

	reclaim(t->at, t->pages, BY_PAGEOUT);
	lazy_rewrite(t->at, kept, t->kib, t->mask);
	hold_end(&t->hold);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_survivors(t->at, kept, t->kib, t->mask);
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
