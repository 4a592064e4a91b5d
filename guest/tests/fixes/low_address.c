// SPDX-License-Identifier: GPL-2.0
/*
 * The tail of a large folio is at a low address, so that the address of the
 * folio's start, counted back from there, is below 0. A fault that handles the
 * whole folio must not begin before the page table. The memory there is often
 * the table that was allocated before: here that of the folio's head, which is
 * mapped without access. What becomes accessible there was taken for a part of
 * the mapping of the tail.
 */
#include <signal.h>
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/nodes.h"
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/hold.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "proc/proc.h"
#include "process/cpu.h"
#include "process/map.h"
#include "run/ktap.h"

/* The heads and tails of so many folios; not every head's table is next to it */
#define HINTED		12u
#define TAIL		16u
#define HINTED_TAIL(i)	page_at((char *)0x10000, (i) * TAIL)

#define SWAPPED		8u

static void expect_no_access(const char *at, const char *what, size_t i)
{
	uint64_t value;

	EXPECT(probe_read(at, &value) == SIGSEGV,
	       "%s %zu: the head of the folio can be read without access", what,
	       i);
}

QUIRE_CASE_TAGGED(fixes, low_hint, FIXES)
{
	unsigned long faults;
	uint64_t value;
	size_t i;

	needs_nodes();
	must_fit(HINTED * PMD_SIZE);
	stay_on_cpu(0);
	probe_init();
	nodes_hint_other();
	for (i = 0; i < HINTED; i++) {
		/* In the midst of the tables for the folios, and kept by the tails */
		if (i == HINTED / 2)
			*(char *)map_anon(HINTED_TAIL(HINTED), PAGE_SIZE) = 1;
		folio_map_filled(pmd_at(SRC_BASE, i), PMD_SIZE, PMD_SIZE / KIB,
				 SEED);
	}
	folio_want(PAGE_KIB);
	for (i = 0; i < HINTED; i++) {
		move(page_at(pmd_at(SRC_BASE, i), PMD_PAGES - TAIL), TAIL,
		     HINTED_TAIL(i));
		range_protect(pmd_at(SRC_BASE, i), PMD_PAGES - TAIL, PROT_NONE);
	}
	if (!nodes_balance_often(true))
		SKIP("this kernel has no NUMA balancing");
	nodes_balance(false);
	nodes_give_hints(HINTED * TAIL);
	nodes_balance_often(false);
	faults = vmstat("numa_hint_faults");
	for (i = 0; i < HINTED; i++)
		EXPECT_EQ(probe_read(HINTED_TAIL(i), &value), 0);
	EXPECT(vmstat("numa_hint_faults") - faults >= HINTED,
	       "only %lu hint faults", vmstat("numa_hint_faults") - faults);
	for (i = 0; i < HINTED; i++) {
		expect_no_access(page_at(pmd_at(SRC_BASE, i),
					 PMD_PAGES - TAIL - 1), "folio", i);
		expect_content(HINTED_TAIL(i), TAIL, SEED, PMD_PAGES - TAIL);
	}
}

/*
 * One folio of a block: the first pages are the last of their table, and all
 * others begin at address 0. It is in swap, and still in the swap cache.
 */
static void swapped(size_t try)
{
	size_t pages = BLOCK, low = pages / 2;
	char *from = page_at(SRC_BASE, try * pages);
	char *head = page_at(DST_BASE, (try + 1) * PMD_PAGES - low);
	char *tail = NULL;
	uint64_t value;

	move(from, low, head);
	move(page_at(from, low), pages - low, tail);
	range_protect(head, low, PROT_NONE);
	EXPECT_EQ(probe_read(tail, &value), 0);
	expect_no_access(head, "try", try);
	expect_no_access(page_at(head, low - 1), "try", try);
	expect_content(tail, pages - low, SEED, try * pages + low);
	range_protect(head, low, PROT_READ);
	expect_content(head, low, SEED, try * pages);
	unmap(tail, (pages - low) * PAGE_SIZE);
}

QUIRE_CASE_TAGGED(fixes, low_swap_in, FIXES)
{
	size_t i, pages = SWAPPED * BLOCK;
	struct hold hold;

	memcg_enter();
	stay_on_cpu(0);
	probe_init();
	swap_on(SWAP_FOR_TESTS);
	/* Allocate the upper tables now: the others then follow each other. */
	*(char *)map_anon(page_at(DST_BASE, (SWAPPED + 1) * PMD_PAGES),
			  PAGE_SIZE) = 1;
	folio_map_filled(SRC_BASE, pages * PAGE_SIZE, BLOCK_KIB, SEED);
	folio_want(PAGE_KIB);
	/* Reclaim leaves alone what is held and has no slot yet */
	reclaim_to_swap_cache(SRC_BASE, pages, BLOCK_KIB);
	hold = hold_folios(SRC_BASE, pages, BLOCK_KIB, 0);
	swap_out(SRC_BASE, pages);
	for (i = 0; i < SWAPPED; i++)
		swapped(i);
	hold_end(&hold);
}
