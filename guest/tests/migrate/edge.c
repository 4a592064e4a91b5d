// SPDX-License-Identifier: GPL-2.0
/* Folios that cannot move, or that end where a run must end. */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/ksm.h"
#include "kernel/pin.h"
#include "kernel/reclaim.h"
#include "memory/part.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "migrate.h"
#include "proc/proc.h"

/* Moves the range so that `before` pages lie below the end of a page table. */
static void check_across(unsigned long kib, size_t before)
{
	size_t pages = range_pages(kib);
	char *at = migrate_range(kib, true);
	char *to = range_hole(page_at(DST_BASE, PMD_PAGES - before), pages);
	struct snapshot *was;

	move(at, pages, to);
	was = snapshot(to, pages);
	migrate(to, pages);
	expect_same_bits(was, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	range_drop(at, pages);
	range_drop(to, pages);
	free(was);
}

QUIRE_CASE_SIZES(migrate, across_pmd, LARGE_SIZES)
{
	size_t nr = folio_pages(kib);

	needs_nodes();
	check_across(kib, 1);
	check_across(kib, nr / 2);
	check_across(kib, nr - 1);
}

static void check_part(unsigned long kib, const struct mask *mask,
		       const struct part *part)
{
	size_t pages = range_pages(kib);
	char *at = migrate_range(kib, true);

	part_give(at, pages, kib, mask, part);
	move_to_node(0, at, pages, 1);
	expect_part(at, pages, kib, mask, part);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(migrate, part, LARGE_SIZES)
{
	needs_nodes();
	for_each_part(kib, check_part);
}

/*
 * A pinned folio stays. Its exclusive pages cannot be shared, so the first of
 * them ends the unmapping: in the first run, in the last or between. All
 * entries must be as they were.
 */
static void check_pinned(unsigned long kib, const struct mask *alone)
{
	size_t kept, pages = range_pages(kib);
	char *at = migrate_range(kib, true);
	struct snapshot *before;
	struct peer peer;
	struct pin *pin;

	if (!fork_without(&peer, at, pages, kib, alone))
		sharer_writes(&peer, at, pages, kib, alone);
	pin = pin_folios(at, pages, kib, mask_first(alone, kib));
	kept = pin_count(pin) * folio_pages(kib);
	before = snapshot(at, kept);
	move_to_node(0, at, pages, !node_of(at));
	expect_entries(before, at);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	peer_turn(&peer);	/* the child sees no write, and writes */
	expect_content(at, pages, SEED_NEW, 0);
	pin_end(pin);
	peer_turn(&peer);
	peer_join(&peer, "the child of a pinned folio");
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(migrate, pinned, LARGE_SIZES)
{
	needs_nodes();
	for_each_mask(mask)
		check_pinned(kib, mask);
}

/* A page is mlocked once, however often it has moved. */
QUIRE_CASE_SIZES(migrate, mlocked, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	needs_nodes();
	for_each_mask(mask) {
		char *at = migrate_range(kib, true);
		unsigned long locked = meminfo_kib("Mlocked");
		struct snapshot *before;

		mask_mlock(at, pages, kib, mask);
		before = snapshot(at, pages);
		migrate(at, pages);
		expect_same_bits(before, at);
		migrate(at, pages);
		expect_content(at, pages, SEED, 0);
		if (munlock(at, pages * PAGE_SIZE))
			die_errno("munlock");
		expect_writable(at, pages);
		range_drop(at, pages);
		EXPECT_EQ(meminfo_kib("Mlocked"), locked);
		free(before);
	}
}

/* Two merged pages move as one, and both of them are mapped again. */
QUIRE_CASE(migrate, merged)
{
	const size_t pages = 64;	/* all become one: below max_page_sharing */
	char *at;
	size_t n;

	needs_nodes();
	at = range_filled(SRC_BASE, pages, PAGE_KIB);
	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(at, n), SEED, 0);
	ksm_mergeable(at, pages * PAGE_SIZE);
	ksm_merge(at, page_at(at, pages - 1));
	migrate(at, pages);
	EXPECT(ksm_merged(at, page_at(at, pages - 1)),
	       "the pages are no longer one");
	for (n = 0; n < pages; n++)
		expect_content(page_at(at, n), 1, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
}
