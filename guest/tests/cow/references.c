// SPDX-License-Identifier: GPL-2.0
/*
 * A process keeps a reference to a page that it shared with its parent (or its
 * child), by a pipe or a pin, and gives up its mapping. What the other side
 * writes after that must never show by the reference: the page has to be copied,
 * whichever page of the folio was taken and whichever is written first.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cow.h"
#include "kernel/pin.h"
#include "memory/pattern.h"

#define SECRET	0x5ec7e7ull

enum leave { UNMAPS, EXITS, KEEPS, UNMAPS_REST, MOVES, NR_LEAVES };

static char copy[MOST_PAGE_SIZE] __attribute__((aligned(MOST_PAGE_SIZE)));

/* The held page is as it was at the fork. */
static void expect_held(struct hold *hold, size_t page)
{
	hold_read(hold, copy);
	EXPECT(pattern_verify_page(copy, SEED, page) < 0,
	       "page %zu: the pipe has what was written after it was taken", page);
}

static void leave(enum leave how, char *at, size_t pages, size_t held)
{
	switch (how) {
	case UNMAPS:
		munmap(at, pages * PAGE_SIZE);
		break;
	case UNMAPS_REST:
		if (held)
			munmap(at, held * PAGE_SIZE);
		munmap(page_at(at, held + 1), (pages - held - 1) * PAGE_SIZE);
		break;
	case MOVES:
		move(at, pages, DST_BASE);
		munmap(DST_BASE, pages * PAGE_SIZE);
		break;
	default:
		break;
	}
}

/*
 * One folio is attacked. The victim writes to its pages, from `first` on; the
 * other process has page `held` in a pipe.
 */
static void attack(unsigned long kib, size_t held, size_t first, enum leave how,
		   bool child_is_victim)
{
	size_t n, pages = range_pages(kib), nr = folio_pages(kib);
	char *at = range_by_ptes(kib);
	struct hold hold = hold_start();
	struct peer peer;
	bool parent = peer_fork(&peer);

	if (!parent && !child_is_victim) {
		hold_page(&hold, page_at(at, held));
		leave(how, at, pages, held);
		if (how == EXITS)
			peer_end(&peer);
		peer_turn(&peer);
		expect_held(&hold, held);
		peer_end(&peer);
	}
	if (!parent) {
		peer_wait(&peer);
		for (n = 0; n < nr; n++)
			cow_mark(at, (first + n) % nr, SECRET);
		peer_end(&peer);
	}
	if (!child_is_victim) {
		peer_wait(&peer);
		if (how == EXITS)
			peer_join(&peer, "the child that took a page");
		for (n = 0; n < nr; n++)
			cow_mark(at, (first + n) % nr, SECRET);
	} else {
		hold_page(&hold, page_at(at, held));
		leave(how == EXITS ? UNMAPS : how, at, pages, held);
		peer_turn(&peer);
		peer_join(&peer, "the child that writes");
	}
	if (!child_is_victim && how != EXITS) {
		peer_turn(&peer);
		peer_join(&peer, "the child that reads the pipe");
	} else {
		expect_held(&hold, held);
	}
	for (n = 0; n < nr && !child_is_victim; n++) {
		EXPECT(cow_word(at, n) == SECRET, "page %zu lost a write", n);
		cow_expect_rest(at, n);
	}
	hold_end(&hold);
	if (child_is_victim && how != KEEPS)
		munmap(at, pages * PAGE_SIZE);
	range_drop(at, pages);
}

static void attack_pages(unsigned long kib, bool child_is_victim)
{
	size_t nr = folio_pages(kib), last = nr - 1, i, j;
	const size_t page[] = { 0, 1, nr / 2, last };
	enum leave how;

	for (how = 0; how < NR_LEAVES; how++) {
		for (i = 0; i < ARRAY_SIZE(page); i++) {
			for (j = 0; j < ARRAY_SIZE(page); j++)
				attack(kib, page[i], page[j], how,
				       child_is_victim);
		}
	}
}

QUIRE_CASE_FULL(cow, pipe_of_child, 60000u, KTAP_SIZES(16, 64, 256, 2048))
{
	attack_pages(kib, false);
}

QUIRE_CASE_FULL(cow, pipe_of_parent, 60000u, KTAP_SIZES(16, 64, 256, 2048))
{
	attack_pages(kib, true);
}

/*
 * Pages that were pinned by direct I/O before or after the fork stay those of
 * the process that pinned them: what it writes shows by the pin (pin_end()
 * compares), and what another writes does not.
 */
static void check_pin(unsigned long kib, size_t index, bool before_fork,
		      bool child_stays)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct pin *pin = NULL;
	struct peer peer;

	if (before_fork)
		pin = pin_folios(at, pages, kib, index);
	if (!peer_fork(&peer)) {
		expect_content(at, pages, SEED, 0);
		if (child_stays) {
			peer_wait(&peer);
			expect_content(at, pages, SEED, 0);
			cow_mark_all(at, pages, kib, MASK_ALL, SECRET);
			peer_turn(&peer);
			cow_expect(at, pages, kib, MASK_ALL, SECRET);
			peer_end(&peer);
		}
		exit(STATUS_OK);
	}
	if (!child_stays)
		peer_join(&peer, "the child that ends");
	if (!before_fork)
		pin = pin_folios(at, pages, kib, index);
	cow_mark_all(at, pages, kib, MASK_ALL, SECRET + 1);
	if (child_stays) {
		peer_turn(&peer);
		cow_expect(at, pages, kib, MASK_ALL, SECRET + 1);
	}
	pin_end(pin);
	if (child_stays) {
		peer_turn(&peer);
		peer_join(&peer, "the child that writes");
	}
	cow_expect(at, pages, kib, MASK_ALL, SECRET + 1);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(cow, pinned_before_fork, ALL_SIZES)
{
	check_pin(kib, 0, true, true);
	check_pin(kib, folio_pages(kib) - 1, true, false);
}

QUIRE_CASE_SIZES(cow, pinned_after_fork, ALL_SIZES)
{
	check_pin(kib, 0, false, true);
	check_pin(kib, folio_pages(kib) - 1, false, false);
	check_pin(kib, folio_pages(kib) / 2, false, true);
}
