// SPDX-License-Identifier: GPL-2.0
/*
 * Swap-out that fails, or has to leave some folios or pages alone: nothing is
 * lost, nothing gets through to where it should not, and the next try succeeds.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/pin.h"
#include "kernel/swap.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "memory/poison.h"
#include "memory/share.h"
#include "proc/proc.h"
#include "swapout.h"

static const size_t *positions(unsigned long kib)
{
	static size_t at[3];

	at[1] = folio_pages(kib) / 2;
	at[2] = folio_pages(kib) - 1;
	return at;
}

/* Pinned before it is in the swap cache: reclaim does not begin at all. */
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

QUIRE_CASE_SIZES(swapout, pinned, ALL_SIZES)
{
	size_t i;

	swapout_start(SWAP_MIB);
	for (i = 0; i < 3; i++) {
		check_pinned(kib, BY_PAGEOUT, positions(kib)[i]);
		check_pinned(kib, BY_MEMCG, positions(kib)[i]);
	}
	swapout_end();
}

/* The child, which shares all but some pages with its parent. */
static void child(struct peer *peer, char *at, size_t pages, unsigned long kib,
		  const struct mask *alone)
{
	size_t n;

	peer_wait(peer);
	for (n = 0; n < pages; n++) {
		if (masked(alone, n, kib))
			continue;
		expect_content(page_at(at, n), 1, SEED, n);
		pattern_write_page(page_at(at, n), SEED_CHILD, n);
	}
	peer_turn(peer);
	for (n = 0; n < pages; n++) {
		if (!masked(alone, n, kib))
			expect_content(page_at(at, n), 1, SEED_CHILD, n);
	}
	peer_end(peer);
}

static const struct mask *from_mask;
static unsigned long from_kib;

/* Pages from the first on that `from_mask` has. */
static bool is_from(size_t page, size_t nr __attribute__((unused)))
{
	return page >= mask_first(from_mask, from_kib);
}

static const struct mask from = { "from the first exclusive page on", is_from };

/*
 * Pinned in the swap cache: the exclusive pages cannot be shared, so reclaim
 * fails at the first of them, which is in the first sub-run of entries, in the
 * last or between, as they are exclusive or not. What comes before may be in
 * swap by then, what comes after must be left as it was.
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
		child(&peer, at, pages, kib, alone);
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
	peer_turn(&peer);	/* the child sees none of that, and writes */
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

QUIRE_CASE_SIZES(swapout, pinned_in_swap_cache, LARGE_SIZES)
{
	size_t i;

	swapout_start(SWAP_MIB);
	for (i = 0; i < NR_MASKS; i++)
		check_pinned_cached(kib, &masks[i], NULL);
	swapout_end();
}

/* And with more sub-runs, of pages that differ in being protected. */
QUIRE_CASE_SIZES(swapout, pinned_and_protected, LARGE_SIZES)
{
	size_t i;

	swapout_start(SWAP_MIB);
	for (i = 0; i < NR_MASKS; i++)
		check_pinned_cached(kib, &masks[i], &masks[NR_MASKS - 1 - i]);
	swapout_end();
}

/* Referred to, but not in the swap cache yet: large folios stay as they are. */
static void check_held(unsigned long kib, enum how how, size_t index)
{
	size_t kept, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct hold hold = hold_folios(at, pages, kib, index);
	struct snapshot *before;

	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, how);
	if (kib > 4)
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

QUIRE_CASE_SIZES(swapout, held, ALL_SIZES)
{
	size_t i;

	swapout_start(SWAP_MIB);
	for (i = 0; i < 3; i++) {
		check_held(kib, BY_PAGEOUT, positions(kib)[i]);
		check_held(kib, BY_MEMCG, positions(kib)[i]);
	}
	swapout_end();
}

/* Room for half of the pages only: the others stay, and nothing is lost. */
#define SMALL_SWAP_MIB	3
#define FULL_PAGES	(2 * SMALL_SWAP_MIB * MIB / PAGE_SIZE)

static void check_full(unsigned long kib, enum how how)
{
	char *at = range_filled(SRC_BASE, FULL_PAGES, kib);
	size_t out, round;

	if (munlock(at, FULL_PAGES * PAGE_SIZE))
		die_errno("munlock of the range");
	for (round = 0; round < 3; round++) {
		pattern_write(at, FULL_PAGES * PAGE_SIZE, SEED + round);
		reclaim(at, FULL_PAGES, how);
		out = pagemap_swapped(at, FULL_PAGES);
		EXPECT(out && out < FULL_PAGES / 2, "%zu pages are in swap",
		       out);
		EXPECT_EQ(pagemap_present(at, FULL_PAGES), FULL_PAGES - out);
		EXPECT_EQ(smaps_kib(at, "Swap"), out * PAGE_SIZE / KIB);
		expect_content(at, FULL_PAGES, SEED + round, 0);
	}
	range_drop(at, FULL_PAGES);
}

QUIRE_CASE_SIZES(swapout, swap_full, ALL_SIZES)
{
	enum how how;

	swapout_start(SMALL_SWAP_MIB);
	for (how = 0; how < NR_HOW; how++)
		check_full(kib, how);
	swapout_end();
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

QUIRE_CASE_SIZES(swapout, mlocked, ALL_SIZES)
{
	size_t i;

	swapout_start(SWAP_MIB);
	for (i = 0; i < NR_MASKS; i++)
		check_locked(kib, &masks[i]);
	swapout_end();
}

/*
 * A folio that is referred to cannot be split when memory under it fails: it
 * stays whole, with a page in it that must not be written to swap.
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

QUIRE_CASE_SIZES(swapout, poisoned, 4, 16, 64)
{
	swapout_start(SWAP_MIB);
	check_poisoned(kib, false);
	check_poisoned(kib, true);
	swapout_end();
}

/* swapoff brings all back that some pages, or all, of the folios have there. */
static void check_swapoff(unsigned long kib, const struct mask *alone,
			  const struct mask *back)
{
	size_t n, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone))
		child(&peer, at, pages, kib, alone);
	before = snapshot(at, pages);
	reclaim_shared(peer.pid);
	for (n = 0; n < pages; n++) {
		if (masked(back, n, kib))
			expect_content(page_at(at, n), 1, SEED, n);
	}
	swap_off();
	EXPECT_EQ(pagemap_present(at, pages), pages);
	EXPECT_EQ(smaps_kib(at, "Swap"), 0);
	expect_back(before, at);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	peer_turn(&peer);
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child of what swapoff brought back");
	range_drop(at, pages);
	swap_on(SWAP_MIB);
	free(before);
}

QUIRE_CASE_SIZES(swapout, swapoff, ALL_SIZES)
{
	size_t i;

	swapout_start(SWAP_MIB);
	for (i = 0; i < NR_MASKS; i++)
		check_swapoff(kib, &masks[i], &masks[NR_MASKS - 1 - i]);
	swapout_end();
}
