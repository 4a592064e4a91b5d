// SPDX-License-Identifier: GPL-2.0
/* Folios that cannot move, and what is counted of those that do. */
#include <sys/mman.h>

#include "kernel/ksm.h"
#include "kernel/pin.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "migrate.h"
#include "proc/proc.h"

/*
 * A pinned folio stays. Its exclusive pages cannot be shared, so the first of
 * them ends the unmapping: in the first run, in the last or between. All
 * entries must be as they were.
 */
TRIAL_CASE(migrate, pinned, on_nodes, MASKS, LARGE_SIZES)
{
	size_t kept;
	struct pin *pin;

	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		sharer_writes(&t->peer, t->at, t->pages, t->kib, t->mask);
	pin = pin_folios(t->at, t->pages, t->kib, mask_first(t->mask, t->kib));
	kept = pin_count(pin) * folio_pages(t->kib);
	t->before = snapshot(t->at, kept);
	move_to_node(0, t->at, t->pages, !node_of(t->at));
	expect_entries(t->before, t->at);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);	/* the child sees no write, and writes */
	expect_content(t->at, t->pages, SEED_NEW, 0);
	pin_end(pin);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of a pinned folio");
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

/* A page is mlocked once, however often it has moved. */
TRIAL_CASE(migrate, mlocked, on_nodes, MASKS, ALL_SIZES)
{
	unsigned long locked = meminfo_kib("Mlocked");

	mask_mlock(t->at, t->pages, t->kib, t->mask);
	t->before = snapshot(t->at, t->pages);
	migrate(t->at, t->pages);
	expect_changed(t->before, t->at, NEW_FRAMES);
	migrate(t->at, t->pages);
	expect_content(t->at, t->pages, SEED, 0);
	range_unlock(t->at, t->pages);
	expect_writable(t->at, t->pages);
	EXPECT_EQ(meminfo_kib("Mlocked"), locked);
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
}
