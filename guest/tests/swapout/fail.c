// SPDX-License-Identifier: GPL-2.0
/*
 * Swap-out that fails, or has to skip some folios or pages. No byte is lost, no
 * process sees another's writes, and the next try succeeds.
 */
#include <signal.h>
#include <sys/mman.h>

#include "kernel/pin.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "memory/poison.h"
#include "memory/share.h"
#include "swapout.h"

/* Pinned before it is in the swap cache: reclaim does not start at all. */
TRIAL_CASE(swapout, pinned, swapping, PLACES | HOWS, ALL_SIZES)
{
	size_t kept;
	struct pin *pin = pin_folios(t->at, t->pages, t->kib,
				     mask_first(t->mask, t->kib));

	kept = pin_count(pin) * folio_pages(t->kib);
	t->before = snapshot(t->at, kept);
	reclaim(t->at, t->pages, t->how);
	expect_entries(t->before, t->at);
	expect_writable(t->at, t->pages);
	pin_end(pin);
	pattern_write(t->at, t->pages * PAGE_SIZE, SEED);
	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	expect_content(t->at, t->pages, SEED, 0);
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
static void check_pinned_cached(struct trial *t, const struct mask *protected)
{
	size_t kept;
	struct pin *pin;

	from_mask = t->mask;
	from_kib = t->kib;
	reclaim_to_swap_cache(t->at, t->pages, t->kib);
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		sharer_writes(&t->peer, t->at, t->pages, t->kib, t->mask);
	if (protected)
		wp_protect(t->at, t->pages, t->kib, protected);
	pin = pin_folios(t->at, t->pages, t->kib, mask_first(t->mask, t->kib));
	kept = pin_count(pin) * folio_pages(t->kib);
	t->before = snapshot(t->at, kept);
	reclaim_shared(t->peer.pid);
	expect_kept(t->before, t->at, t->kib, &from);
	expect_content(t->at, t->pages, SEED, 0);
	if (!protected)
		expect_writable(t->at, t->pages);
	peer_turn(&t->peer);	/* the child sees no write, and writes */
	expect_content(t->at, t->pages, protected ? SEED : SEED_NEW, 0);
	pin_end(pin);
	reclaim_shared(t->peer.pid);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	expect_content(t->at, t->pages, protected ? SEED : SEED_NEW, 0);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of a pinned folio");
}

CALL_TRIAL_CASE(swapout, pinned_in_swap_cache, swapping, MASKS,
		check_pinned_cached(t, NULL), LARGE_SIZES)

/* The same with more batches: some of the pages are write-protected. */
CALL_TRIAL_CASE(swapout, pinned_and_protected, swapping, MASKS,
		check_pinned_cached(t, mask_opposite(t->mask)), LARGE_SIZES)

/*
 * Extra references, not in the swap cache yet: large folios stay as they are.
 */
TRIAL_CASE(swapout, held, swapping, PLACES | HOWS, ALL_SIZES)
{
	size_t kept = trial_holds(t, mask_first(t->mask, t->kib));

	t->before = snapshot(t->at, kept);
	reclaim(t->at, t->pages, t->how);
	if (t->kib > PAGE_KIB)
		expect_entries(t->before, t->at);
	expect_content(t->at, t->pages, SEED, 0);
	expect_back(t->before, t->at);
	expect_writable(t->at, t->pages);
	hold_end(&t->hold);
	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

TRIAL_CASE(swapout, mlocked, swapping, MASKS, ALL_SIZES)
{
	size_t n;

	mask_mlock(t->at, t->pages, t->kib, t->mask);
	t->before = snapshot(t->at, t->pages);
	reclaim(t->at, t->pages, BY_MEMCG);
	for (n = 0; n < t->pages; n++) {
		if (masked(t->mask, n, t->kib))
			EXPECT(pagemap_page(page_at(t->at, n)).raw ==
			       t->before->page[n].raw,
			       "page %zu (locked: %s) has changed", n,
			       t->mask->name);
	}
	expect_content(t->at, t->pages, SEED, 0);
	range_unlock(t->at, t->pages);
	reclaim(t->at, t->pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
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
