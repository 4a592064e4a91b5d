// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that a device has for itself: their entries are not present, and an
 * access by the processor gives the page back. The processor has one page of
 * the folio back already, so that reverse walks come to the folio.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/dmirror.h"
#include "kernel/env.h"
#include "kernel/lru_gen.h"
#include "kernel/memcg.h"
#include "kernel/nodes.h"
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/idle.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/ktap.h"

static char *exclusive_folio(unsigned long kib)
{
	size_t n, nr = folio_pages(kib);
	char *at;

	swap_on(SWAP_FOR_TESTS);
	memcg_enter();
	at = range_filled(SRC_BASE, nr, kib);
	for (n = 0; n < nr; n++) {
		if (!dmirror_is_exclusive(page_at(at, n)))
			dmirror_make_exclusive(page_at(at, n));
	}
	*(volatile char *)at;
	ASSERT(pagemap_page(at).present, "the access did not give page 0 back");
	for (n = 1; n < nr; n++)
		ASSERT(dmirror_is_exclusive(page_at(at, n)),
		       "the device does not have page %zu for itself", n);
	env_drain_lru();
	return at;
}

/* Such a page is present, the device's, or in the only swap file. */
static void expect_whole(char *at, size_t nr)
{
	size_t n;

	for (n = 0; n < nr; n++) {
		struct page_state state = pagemap_page(page_at(at, n));

		/* To access a broken entry would hang, and fill the log. */
		ASSERT(state.present || dmirror_is_exclusive(page_at(at, n)) ||
		       (state.swapped && !state.swap_type),
		       "the entry of page %zu is broken: %#llx", n,
		       (unsigned long long)state.raw);
	}
	expect_content(at, nr, SEED, 0);
}

static void check(unsigned long kib, void (*disturb)(char *at, size_t nr))
{
	size_t nr = folio_pages(kib);
	char *at;

	if (!dmirror_open())
		SKIP("this kernel has no test device (configs/device.config)");
	at = exclusive_folio(kib);
	disturb(at, nr);
	expect_whole(at, nr);
	range_drop(at, nr);
	dmirror_close();
}

/*
 * Reclaim walks the mappings and may leave the folio, for the device's
 * references.
 */
static void reclaim_all(char *at __attribute__((unused)), size_t nr)
{
	unsigned long scanned = memcg_stat("pgscan");

	memcg_reclaim();
	EXPECT(memcg_stat("pgscan") >= scanned + nr,
	       "reclaim has scanned only %lu pages",
	       memcg_stat("pgscan") - scanned);
}

static void make_idle(char *at, size_t nr __attribute__((unused)))
{
	struct idle_bit bit = idle_open(pagemap_page(at).pfn);

	idle_set(&bit);
	EXPECT(idle_get(&bit), "the folio is not idle");
	close(bit.fd);
}

/* The device asks for the folio again, which the processor uses in part. */
static void ask_again(char *at, size_t nr)
{
	*(volatile char *)page_at(at, nr - 1);
	EXPECT(dmirror_try_make_exclusive(at), "the last page is in the way");
}

static void migrate(char *at, size_t nr)
{
	unsigned long failed = vmstat("pgmigrate_fail");
	int node = node_of(at);

	node_move(0, at, nr, !node);
	/* Entries of the device are in the way. */
	EXPECT(node_of(at) != node || vmstat("pgmigrate_fail") > failed,
	       "no migration was tried");
}

QUIRE_CASE_SIZES_TAGGED(fixes, exclusive_reclaimed, FIXES, 16, 64, 256)
{
	lru_gen_enable(false);
	check(kib, reclaim_all);
}

QUIRE_CASE_SIZES_TAGGED(fixes, exclusive_reclaimed_mglru, FIXES, 16, 64, 256)
{
	lru_gen_enable(true);
	check(kib, reclaim_all);
}

QUIRE_CASE_SIZES_CALL_TAGGED(fixes, exclusive_idle, FIXES, check(kib, make_idle), 16, 64, 256)

QUIRE_CASE_SIZES_TAGGED(fixes, exclusive_migrated, FIXES, 16, 64, 256)
{
	needs_nodes();
	check(kib, migrate);
}

QUIRE_CASE_SIZES_CALL_TAGGED(fixes, exclusive_again, FIXES, check(kib, ask_again),
			     16, 64, 256)

/*
 * Lazily freed pages go to the device, which writes them. A device leaves no dirty
 * bit, and this process only reads them. There is no swap.
 */
QUIRE_CASE_SIZES_TAGGED(fixes, exclusive_written, FIXES, 4, 64)
{
	size_t pages = range_pages(kib);
	char *buffer, *at;

	if (!dmirror_open())
		SKIP("this kernel has no test device (configs/device.config)");
	buffer = map_anon(DST_BASE, pages * PAGE_SIZE);
	at = range_charged(kib, true);
	range_advise(at, pages, MADV_FREE);
	dmirror_take(at, buffer, pages);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	pattern_write(buffer, pages * PAGE_SIZE, SEED_NEW);
	dmirror_write(at, buffer, pages);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_content(at, pages, SEED_NEW, 0);
	env_drain_lru();
	page_out(at, pages * PAGE_SIZE);
	expect_content(at, pages, SEED_NEW, 0);
	unmap(buffer, pages * PAGE_SIZE);
	dmirror_close();
}
