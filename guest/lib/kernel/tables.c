// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/reclaim.h"
#include "kernel/tables.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "proc/proc.h"
#include "process/cpu.h"
#include "process/map.h"
#include "process/peer.h"

#define TRIES	24u	/* not every try makes the two tables neighbours */

/* The child's table has the high half of the folio, at its start. */
#define CHILD_AT(i)	page_at(DST2_BASE, (i) * PMD_PAGES)
/* The parent's table has the low half, at its end. */
#define PARENT_AT(i, low)	page_at(DST_BASE, ((i) + 1) * PMD_PAGES - (low))

typedef void expect_fn(char *addr, size_t pages, size_t first);

/* All of the pages are mapped and counted. */
static void expect_rss(size_t pages)
{
	EXPECT(status_kib("RssAnon") >= TRIES * pages * PAGE_SIZE / KIB,
	       "RssAnon is only %lu KiB", status_kib("RssAnon"));
}

static void child(struct peer *peer, size_t pages, size_t low,
		  expect_fn *expect)
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
		expect(CHILD_AT(i), pages - low, i * pages + low);
		expect_writable(CHILD_AT(i), pages - low);
	}
	expect_rss(pages - low);
	peer_end(peer);
}

/*
 * Of each folio, move the low half to the end of a table. Then enlarge the VMA
 * to the size of the folio, so that only the table ends there.
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

static void touch(char *addr)
{
	*(char *)map_anon(addr, PAGE_SIZE) = 1;
}

void tables_as_neighbours(unsigned long kib,
			  void (*prepare)(char *addr, size_t pages),
			  expect_fn *expect)
{
	size_t i, pages = folio_pages(kib), low = pages / 2;
	struct peer peer;

	memcg_enter();
	stay_on_cpu(0);
	probe_init();
	/*
	 * Allocate the upper tables now, so that the last-level tables follow
	 * each other.
	 */
	touch(CHILD_AT(TRIES + 1));
	touch(PARENT_AT(TRIES + 1, 0));
	folio_map_filled(SRC_BASE, TRIES * pages * PAGE_SIZE, kib, SEED);
	folio_want(PAGE_KIB);
	prepare(SRC_BASE, TRIES * pages);
	if (!peer_fork(&peer))
		child(&peer, pages, low, expect);
	parent(&peer, pages, low);
	reclaim_shared(peer.pid);
	for (i = 0; i < TRIES; i++) {
		expect(PARENT_AT(i, low), low, i * pages);
		expect_writable(PARENT_AT(i, low), low);
	}
	expect_rss(low);
	peer_turn(&peer);
	peer_join(&peer, "the child with the other tables");
	for (i = 0; i < TRIES; i++)
		unmap(PARENT_AT(i, low), pages * PAGE_SIZE);
}
