// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_UNMERGEABLE of 64 MiB with two merged pages, one near each end.
 *
 * kind=holes: nothing else is mapped. kind=full: every other page is mapped,
 * and its content is like no other. ksmd does not run in the region.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/ksm.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "report/die.h"
#include "run/bench.h"

#define LEN	(64 * MIB)
#define FIRST	3ul			/* the merged pages */
#define SECOND	(LEN / PAGE_SIZE - 5)
#define SEED	0x64e1u
#define SEED_KSM 0x64e2u

static char *area;

static void setup(void)
{
	area = folio_map(NULL, LEN, PAGE_KIB);
	if (!strcmp(bench_word("kind"), "full"))
		pattern_write(area, LEN, SEED);
	pattern_write_page(area + FIRST * PAGE_SIZE, SEED_KSM, 0);
	pattern_write_page(area + SECOND * PAGE_SIZE, SEED_KSM, 0);
	bench_check_folios(area + FIRST * PAGE_SIZE, PAGE_SIZE, PAGE_KIB);
	ksm_mergeable(area, LEN);
	ksm_merge(area + FIRST * PAGE_SIZE, area + SECOND * PAGE_SIZE);
	bench_work(LEN / PAGE_SIZE, 1);
}

static void run(void)
{
	int err;

	env_drain_lru();
	env_after_tick();
	quire_start();
	err = madvise(area, LEN, MADV_UNMERGEABLE);
	quire_stop();
	if (err)
		die_errno("MADV_UNMERGEABLE");
}

static void verify(void)
{
	size_t n;

	if (ksm_merged(area + FIRST * PAGE_SIZE, area + SECOND * PAGE_SIZE))
		bench_fail("the pages are still merged");
	if (pattern_verify_page(area + FIRST * PAGE_SIZE, SEED_KSM, 0) >= 0 ||
	    pattern_verify_page(area + SECOND * PAGE_SIZE, SEED_KSM, 0) >= 0)
		bench_fail("a merged page has wrong data");
	if (strcmp(bench_word("kind"), "full"))
		return;
	for (n = 0; n < LEN / PAGE_SIZE; n++) {
		if (n != FIRST && n != SECOND &&
		    pattern_verify_page(area + n * PAGE_SIZE, SEED, n) >= 0)
			bench_fail("page %zu has wrong data", n);
	}
}

static const struct workload unmerge = {
	.name = "unmerge",
	.summary = "MADV_UNMERGEABLE of a range with two merged pages",
	.params = { { "kind", "holes", "holes|full" } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(unmerge);
