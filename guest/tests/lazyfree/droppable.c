// SPDX-License-Identifier: GPL-2.0
/*
 * MAP_DROPPABLE memory (mmap(2), Linux 6.11): the kernel may drop it at any
 * time, dirty or not, and never swaps it out.
 */
#include <sys/mman.h>

#include "base/uapi.h"
#include "kernel/env.h"
#include "kernel/memcg.h"
#include "lazyfree.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/proc.h"
#include "process/map.h"

static char *droppable_range(unsigned long kib, bool by_pte)
{
	size_t total, ok, pages = range_pages(kib), len = pages * PAGE_SIZE;
	char *at;

	if (NARROW)
		SKIP("MAP_DROPPABLE is for 64 bits");
	memcg_enter();
	at = range_hole(SRC_BASE, pages);
	folio_want(kib);
	map_or_die(at, len, PROT_READ | PROT_WRITE,
		   MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pattern_write(at, len, SEED);
	folio_want(PAGE_KIB);
	ok = folio_count(at, len, kib, &total);
	ASSERT(ok == total, "only %zu of %zu blocks are folios of %lu KiB", ok,
	       total, kib);
	if (by_pte && kib * KIB == PMD_SIZE)
		range_split_pmds(at, pages);
	env_drain_lru();
	EXPECT_EQ(lazy_swapbacked(at, pages), 0);
	return at;
}

static char *clean_range(unsigned long kib, bool by_pte)
{
	char *at = droppable_range(kib, by_pte);

	lazy_free(at, range_pages(kib));
	return at;
}

static const struct ground droppable = {
	.start = start_swap, .range = droppable_range,
};
static const struct ground clean = { .start = start_swap, .range = clean_range };

static void check_dropped(struct trial *t)
{
	unsigned long out = vmstat("pswpout");

	reclaim(t->at, t->pages, t->how);
	/* Reclaim of the cgroup may swap out other memory of this process. */
	if (t->how == BY_PAGEOUT)
		EXPECT_EQ(vmstat("pswpout") - out, 0);
	expect_dropped(t->at, t->pages);
	expect_writable(t->at, t->pages);
}

CALL_TRIAL_CASE(lazyfree, droppable_dirty, droppable, HOWS | MAPPINGS,
		check_dropped(t), ALL_SIZES)
CALL_TRIAL_CASE(lazyfree, droppable_clean, clean, HOWS | MAPPINGS,
		check_dropped(t), ALL_SIZES)

/*
 * An extra reference keeps the folio for now, but does not make it swap-backed.
 */
TRIAL_CASE(lazyfree, droppable_held, droppable, HOWS | MAPPINGS, ALL_SIZES)
{
	size_t kept;

	kept = trial_holds(t, 0);
	t->before = snapshot(t->at, kept);
	reclaim(t->at, t->pages, t->how);
	expect_entries(t->before, t->at);
	expect_content(t->at, kept, SEED, 0);
	EXPECT_EQ(lazy_swapbacked(t->at, kept), 0);
	hold_end(&t->hold);
	reclaim(t->at, t->pages, t->how);
	expect_dropped(t->at, t->pages);
}
