// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of mremap() in a process that uses KSM, per call. One page moves
 * back and forth between two places in one page table; its neighbours keep the
 * table.
 *
 * The page itself is not mergeable. kind=off: no memory is mergeable, for
 * comparison. kind=unscanned: another area is, and ksmd never scanned it.
 * kind=merged: the pages of that area are merged. ksmd does not run in the
 * region.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/ksm.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define FIRST		((char *)GIB)	/* of five: n, page, n, hole, n */
#define HERE		(FIRST + 1 * PAGE_SIZE)
#define THERE		(FIRST + 3 * PAGE_SIZE)
#define OTHER		((char *)(4 * GIB))
#define OTHER_PAGES	16u
#define SEED		0x3e9u
#define SEED_OTHER	0x3eau

static bool kind_is(const char *kind)
{
	return !strcmp(bench_word("kind"), kind);
}

/* Pages that are all equal. */
static void map_other(void)
{
	unsigned int n;

	map_anon(OTHER, OTHER_PAGES * PAGE_SIZE);
	for (n = 0; n < OTHER_PAGES; n++)
		pattern_write_page(OTHER + n * PAGE_SIZE, SEED_OTHER, 0);
	if (kind_is("off"))
		return;
	ksm_mergeable(OTHER, OTHER_PAGES * PAGE_SIZE);
	for (n = 1; n < OTHER_PAGES && kind_is("merged"); n++)
		ksm_merge(OTHER, OTHER + n * PAGE_SIZE);
}

/* Shared memory, so that it never merges with the page's VMA. */
static void map_neighbours(void)
{
	unsigned int n;

	for (n = 0; n < 5; n += 2)
		*(char *)map_or_die(FIRST + n * PAGE_SIZE, PAGE_SIZE,
				    PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS |
				    MAP_FIXED_NOREPLACE, -1, 0) = 1;
}

static inline __attribute__((always_inline)) void move(char *from, char *to,
						       bool counted)
{
	void *p;

	if (counted)
		quire_start();
	p = mremap(from, PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   to);
	if (counted)
		quire_stop();
	if (p != to)
		die_errno("mremap of one page from %p to %p", from, to);
}

static void setup(void)
{
	folio_want(PAGE_KIB);
	map_other();
	map_neighbours();
	map_anon(HERE, PAGE_SIZE);
	pattern_write_page(HERE, SEED, 0);
	bench_check_folios(HERE, PAGE_SIZE, PAGE_KIB);
	move(HERE, THERE, false);
	move(THERE, HERE, false);
	bench_work(0, 2 * bench_number("rounds"));
}

static void run(void)
{
	unsigned long i, rounds = bench_number("rounds");
	uint64_t pfn = pagemap_page(HERE).pfn;

	env_drain_lru();
	env_after_tick();
	for (i = 0; i < rounds; i++) {
		move(HERE, THERE, true);
		move(THERE, HERE, true);
	}
	if (pagemap_page(HERE).pfn != pfn)
		bench_fail("the page is not the one that was moved");
}

static void verify(void)
{
	unsigned long want = kind_is("merged") ? OTHER_PAGES - 1 : 0;
	unsigned long sharing = ksm_sysfs("pages_sharing");
	unsigned int n;

	if (sharing != want)
		bench_fail("%lu pages share another one, not %lu", sharing,
			   want);
	if (pattern_verify_page(HERE, SEED, 0) >= 0)
		bench_fail("the page that was moved has wrong data");
	for (n = 0; n < OTHER_PAGES; n++) {
		if (pattern_verify_page(OTHER + n * PAGE_SIZE, SEED_OTHER,
					0) >= 0)
			bench_fail("page %u that was not moved has wrong data",
				   n);
	}
	if (pagemap_present(THERE, 1))
		bench_fail("the page is still in the place it left");
	bench_counter("pages_sharing", 0, sharing);
}

static const struct workload mremap_mergeable = {
	.name = "mremap-mergeable",
	.summary = "mremap of one page in a process with mergeable memory elsewhere",
	.params = { { "kind", "off", "off|unscanned|merged" },
		    { "rounds", "200", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(mremap_mergeable);
