// SPDX-License-Identifier: GPL-2.0
/*
 * Move 16 MiB, present or all in swap, by an odd number of MiB: source and destination differ in their
 * place within a page table, so that every entry moves. The counted call is
 * mremap().
 */
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"
#include "run/frames.h"

#define FROM	((char *)GIB)
#define TO	((char *)(2 * GIB + MIB))
#define SEED	0x16e1u

static size_t len;
static bool swapped;

static inline __attribute__((always_inline)) void *move(bool counted)
{
	void *p;

	if (counted)
		quire_start();
	p = mremap(FROM, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, TO);
	if (counted)
		quire_stop();
	return p;
}

/* Two copies of move(), so that no test of `counted` is between the markers. */
static void once(bool counted)
{
	long bad;

	folio_map(FROM, len, bench_number("size"));
	pattern_write(FROM, len, SEED);
	bench_check_folios(FROM, len, bench_number("size"));
	env_drain_lru();
	if (swapped)
		page_out(FROM, len);
	if (swapped && pagemap_swapped(FROM, len / PAGE_SIZE) != len / PAGE_SIZE)
		bench_fail("some pages are not in swap");
	frames_name_tables();
	env_after_tick();
	if ((counted ? move(true) : move(false)) != TO)
		die_errno("mremap of %zu MiB to %p", len / MIB, TO);
	bad = pattern_verify(TO, len, SEED);
	if (bad >= 0)
		bench_fail("page %ld has wrong data", bad);
	unmap(TO, len);
}

static void run(void)
{
	unsigned long i, reps = frames_wanted() ? 1 : bench_number("reps");

	len = bench_number("mib") * MIB;
	for (i = 0; i <= reps; i++)
		once(i > 0);
	bench_work(reps * len / PAGE_SIZE, reps);
}

static void setup_swapped(void)
{
	swapped = true;
	swap_on(2 * bench_number("mib"));
}

static const struct workload mremap_16m = {
	.name = "mremap-16m",
	.summary = "mremap of 16 MiB to another place in its page tables",
	.params = { PARAM_SIZE, { "mib", "16", NULL }, { "reps", "4", NULL } },
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_deferred" },
	.run = run,
};
QUIRE_WORKLOAD(mremap_16m);

static const struct workload mremap_swapped = {
	.name = "mremap-swapped",
	.summary = "mremap of 16 MiB that are in swap",
	.params = { PARAM_SIZE, { "mib", "16", NULL }, { "reps", "4", NULL } },
	.vmstat = { "pswpin" },
	.setup = setup_swapped,
	.run = run,
};
QUIRE_WORKLOAD(mremap_swapped);
