// SPDX-License-Identifier: GPL-2.0
/*
 * Swap-out that fails, or has to skip some folios or pages. No byte is lost, no
 * process sees another's writes, and the next try succeeds.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/pin.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "memory/poison.h"
#include "memory/share.h"
#include "swapout.h"

static const size_t *positions(unsigned long kib)
{
	static size_t at[3];

	at[1] = folio_pages(kib) / 2;
	at[2] = folio_pages(kib) - 1;
	return at;
}

/* Pinned before it is in the swap cache: reclaim does not start at all. */
static void check_pinned(unsigned long kib, enum how how, size_t index)
{
	size_t kept, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct pin *pin = pin_folios(at, pages, kib, index);
	struct snapshot *before;

	kept = pin_count(pin) * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, how);
	expect_entries(before, at);
	expect_writable(at, pages);
	pin_end(pin);
	pattern_write(at, pages * PAGE_SIZE, SEED);
	reclaim(at, pages, how);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
	free(before);
}

SWAPOUT_CASE(pinned, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < 3; i++) {
		check_pinned(kib, BY_PAGEOUT, positions(kib)[i]);
		check_pinned(kib, BY_MEMCG, positions(kib)[i]);
	}
}

static const struct mask *from_mask;
static unsigned long from_kib;

/* The pages from the first one in `from_mask` on. */
static bool is_from(size_t page, size_t nr __attribute__((unused)))
{
	return page >= mask_first(from_mask, from_kib);
}

static const struct mask from = { "from the first exclusive page on", is_from };

/*
 * Pinned in the swap cache. Exclusive pages cannot be shared, so reclaim fails
 * at the first of them: in the first batch of PTEs, in the last or between. The
 * pages before it may be in swap by then. The pages after it must be unchanged.
 */
static void check_pinned_cached(unsigned long kib, const struct mask *alone,
				const struct mask *protected)
{
	size_t kept, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;
	struct peer peer;
	struct pin *pin;

	from_mask = alone;
	from_kib = kib;
	reclaim_to_swap_cache(at, pages, kib);
	if (!fork_without(&peer, at, pages, kib, alone))
		sharer_writes(&peer, at, pages, kib, alone);
	if (protected)
		wp_protect(at, pages, kib, protected);
	pin = pin_folios(at, pages, kib, mask_first(alone, kib));
	kept = pin_count(pin) * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim_shared(peer.pid);
	expect_kept(before, at, kib, &from);
	expect_content(at, pages, SEED, 0);
	if (!protected)
		expect_writable(at, pages);
	peer_turn(&peer);	/* the child sees no write, and writes */
	expect_content(at, pages, protected ? SEED : SEED_NEW, 0);
	pin_end(pin);
	reclaim_shared(peer.pid);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_content(at, pages, protected ? SEED : SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child of a pinned folio");
	range_drop(at, pages);
	free(before);
}

SWAPOUT_CASE(pinned_in_swap_cache, LARGE_SIZES)
{
	for_each_mask(mask)
		check_pinned_cached(kib, mask, NULL);
}

/* The same with more batches: some of the pages are write-protected. */
SWAPOUT_CASE(pinned_and_protected, LARGE_SIZES)
{
	for_each_mask(mask)
		check_pinned_cached(kib, mask, mask_opposite(mask));
}

/*
 * Extra references, not in the swap cache yet: large folios stay as they are.
 */
static void check_held(unsigned long kib, enum how how, size_t index)
{
	size_t kept, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct hold hold = hold_folios(at, pages, kib, index);
	struct snapshot *before;

	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, how);
	if (kib > PAGE_KIB)
		expect_entries(before, at);
	expect_content(at, pages, SEED, 0);
	expect_back(before, at);
	expect_writable(at, pages);
	hold_end(&hold);
	reclaim(at, pages, how);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
	free(before);
}

SWAPOUT_CASE(held, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < 3; i++) {
		check_held(kib, BY_PAGEOUT, positions(kib)[i]);
		check_held(kib, BY_MEMCG, positions(kib)[i]);
	}
}

static void check_locked(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;

	mask_mlock(at, pages, kib, mask);
	before = snapshot(at, pages);
	reclaim(at, pages, BY_MEMCG);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			EXPECT(pagemap_page(page_at(at, n)).raw ==
			       before->page[n].raw,
			       "page %zu (locked: %s) has changed", n,
			       mask->name);
	}
	expect_content(at, pages, SEED, 0);
	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock");
	reclaim(at, pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

SWAPOUT_CASE(mlocked, ALL_SIZES)
{
	for_each_mask(mask)
		check_locked(kib, mask);
}

/*
 * A folio with extra references cannot be split when its memory fails. It stays
 * whole, with a page in it that must not be written to swap.
 */
static void check_poisoned(unsigned long kib, bool held)
{
	size_t n, pages = range_pages(kib), bad = folio_pages(kib) / 2;
	char *at = swapout_range(kib, true);
	uint64_t word;
	struct hold hold = hold_start();

	if (held)
		hold_page(&hold, page_at(at, bad));
	EXPECT(poison_page(page_at(at, bad)) || held,
	       "the page cannot be poisoned");
	if (!held)
		EXPECT_EQ(probe_read(page_at(at, bad), &word), SIGBUS);
	reclaim(at, pages, BY_PAGEOUT);
	reclaim(at, pages, BY_MEMCG);
	if (!held)
		EXPECT_EQ(probe_read(page_at(at, bad), &word), SIGBUS);
	for (n = 0; n < pages; n++) {
		if (n != bad)
			expect_content(page_at(at, n), 1, SEED, n);
	}
	hold_end(&hold);
	range_drop(at, pages);
}

SWAPOUT_CASE(poisoned, 4, 16, 64)
{
	check_poisoned(kib, false);
	check_poisoned(kib, true);
}
