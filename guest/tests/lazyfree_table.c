// SPDX-License-Identifier: GPL-2.0
/*
 * A run of entries must end with its page table. What lies behind it in memory
 * is often the next table to be made: here one of another process, whose first
 * entries map just the pages that would continue the run. A walk that reads on
 * unmaps them there and counts them here.
 */
#include <sys/mman.h>

#include "folio.h"
#include "lazyfree.h"
#include "memcg.h"
#include "pattern.h"
#include "peer.h"
#include "proc.h"

#define TRIES	24u	/* in not all of them the tables are neighbours */

/* The child's table: the high halves of the folios, from its start on. */
#define CHILD_AT(i)	page_at(DST2_BASE, (i) * PMD_PAGES)
/* The parent's: the low halves at its end. */
#define PARENT_AT(i, low)	page_at(DST_BASE, ((i) + 1) * PMD_PAGES - (low))

static void child(struct peer *peer, size_t pages, size_t low)
{
	size_t i;

	for (i = 0; i < TRIES; i++) {
		char *from = page_at(SRC_BASE, i * pages);

		peer_wait(peer);
		move(page_at(from, low), pages - low, CHILD_AT(i));
		unmap(from, low * PAGE_SIZE);
		peer_go(peer);
	}
	peer_wait(peer);
	for (i = 0; i < TRIES; i++) {
		expect_old_or_zero(CHILD_AT(i), pages - low, i * pages + low);
		expect_writable(CHILD_AT(i), pages - low);
	}
	EXPECT(status_kib("RssAnon") >= TRIES * (pages - low) * PAGE_SIZE / KIB,
	       "RssAnon of the child is only %lu KiB", status_kib("RssAnon"));
	peer_end(peer);
}

/*
 * Of each folio: move the low half up to the end of a table, and make the VMA
 * there long enough for all of the folio, so that only the table ends.
 */
static void parent(struct peer *peer, size_t pages, size_t low)
{
	size_t i;

	for (i = 0; i < TRIES; i++) {
		char *from = page_at(SRC_BASE, i * pages);

		move(from, low, PARENT_AT(i, low));
		peer_turn(peer);
		unmap(page_at(from, low), (pages - low) * PAGE_SIZE);
		if (mremap(PARENT_AT(i, low), low * PAGE_SIZE,
			   pages * PAGE_SIZE, 0) == MAP_FAILED)
			die_errno("mremap to enlarge the mapping of folio %zu",
				  i);
	}
}

QUIRE_CASE_SIZES(lazyfree, ends_with_table, 16, 64, 256, 1024)
{
	size_t i, pages = folio_pages(kib), low = pages / 2;
	struct peer peer;

	memcg_enter();
	stay_on_cpu(0);
	probe_init();
	/* The tables above those at work, so that these are made one by one. */
	*(char *)map_anon(CHILD_AT(TRIES + 1), PAGE_SIZE) = 1;
	*(char *)map_anon(PARENT_AT(TRIES + 1, 0), PAGE_SIZE) = 1;
	folio_map_filled(SRC_BASE, TRIES * pages * PAGE_SIZE, kib, SEED);
	folio_want(4);
	lazy_free(SRC_BASE, TRIES * pages);
	if (!peer_fork(&peer))
		child(&peer, pages, low);
	parent(&peer, pages, low);
	reclaim_shared(peer.pid);
	for (i = 0; i < TRIES; i++) {
		expect_old_or_zero(PARENT_AT(i, low), low, i * pages);
		expect_writable(PARENT_AT(i, low), low);
	}
	EXPECT(status_kib("RssAnon") >= TRIES * low * PAGE_SIZE / KIB,
	       "RssAnon is only %lu KiB", status_kib("RssAnon"));
	peer_turn(&peer);
	peer_join(&peer, "the child with the other tables");
}
