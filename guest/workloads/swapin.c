// SPDX-License-Identifier: GPL-2.0
/*
 * Swap-in by touch: a range is paged out to zram, then one byte of each page is
 * read. zram has SWP_SYNCHRONOUS_IO: the fault reads without readahead and
 * without the swap cache. The data is one word per page, which zram does not
 * compress.
 */
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "run/bench.h"

#define SEED 0x1b5u

static char *area;
static size_t area_len;

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	swap_on(2 * area_len / MIB);
	area = folio_map(NULL, area_len, kib);
	pattern_write_words(area, area_len, SEED);
	bench_check_layout(area, area_len, kib);
	swap_out(area, area_len / PAGE_SIZE);
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	const volatile char *at = area, *end = area + area_len;

	env_after_tick();
	quire_start();
	for (; at < end; at += PAGE_SIZE)
		*at;
	quire_stop();
}

static void verify(void)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t present = pagemap_present(area, pages);
	long bad = pattern_verify_words(area, area_len, SEED);

	if (present != pages)
		bench_fail("only %zu of %zu pages came back", present, pages);
	if (bad >= 0)
		bench_fail("page %ld came back with wrong data", bad);
}

static const struct workload swapin = {
	.name = "swapin",
	.summary = "a read of each page of a range in swap",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.vmstat = { "pswpin", "pgfault" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(swapin);
