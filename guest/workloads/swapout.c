// SPDX-License-Identifier: GPL-2.0
/*
 * Swap-out of 256 MiB of private anonymous memory by MADV_PAGEOUT, to zram.
 * data=zero: all bytes are zero, as in the posted figures; the kernel records
 * the pages in its zero map and writes nothing. data=distinct: every page has
 * its own words, which LZ4 cannot compress, so zram stores the pages whole.
 * data=middle: one word in the middle of each page is not zero, so that neither
 * the first words nor the last tell. No table has it: a folio's lines (--cost)
 * show how far the search for zeroes reads.
 *
 * swapout-block: the same to a plain block device (kernel/nullb.h), with
 * distinct data. Swap on it writes through bios that madvise() collects in its
 * plug. Reclaim finds the folios still under writeback and leaves them in the
 * swap cache: the call unmaps and writes them, but does not free them.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED 0x5a0u

static char *area;
static size_t area_len;

static bool data_is(const char *what)
{
	return !strcmp(bench_word("data"), what);
}

static uint64_t *middle_word(size_t page)
{
	return (uint64_t *)(area + page * PAGE_SIZE + PAGE_SIZE / 2);
}

static void fill(void)
{
	unsigned long kib = bench_number("size");
	size_t n;

	area = folio_map(NULL, area_len, kib);
	if (data_is("distinct"))
		pattern_write(area, area_len, SEED);
	else
		memset(area, 0, area_len);
	if (data_is("middle")) {
		for (n = 0; n < area_len / PAGE_SIZE; n++)
			*middle_word(n) = SEED + n;
	}
	bench_check_layout(area, area_len, kib);
	bench_work(area_len / PAGE_SIZE, 1);
}

/* Twice as much swap, so that 2 MiB folios find whole free clusters. */
static void setup(void)
{
	area_len = bench_number("mib") * MIB;
	swap_on(2 * area_len / MIB);
	fill();
}

static void setup_block(void)
{
	area_len = bench_number("mib") * MIB;
	swap_on_block(2 * area_len / MIB);
	fill();
}

static void run(void)
{
	int err;

	env_after_tick();
	quire_start();
	err = madvise(area, area_len, MADV_PAGEOUT);
	quire_stop();
	if (err)
		die_errno("MADV_PAGEOUT");
}

/* The first page with a wrong middle, or a byte elsewhere that is not zero. */
static long verify_middle(void)
{
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (*middle_word(n) != SEED + n)
			return (long)n;
		*middle_word(n) = 0;
	}
	return pattern_verify_zero(area, area_len);
}

static long verify_data(void)
{
	if (data_is("distinct"))
		return pattern_verify(area, area_len, SEED);
	if (data_is("middle"))
		return verify_middle();
	return pattern_verify_zero(area, area_len);
}

static void verify(void)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t out = pagemap_swapped(area, pages);
	long bad;

	if (out != pages)
		bench_fail("only %zu of %zu pages were swapped out", out, pages);
	bad = verify_data();
	if (bad >= 0)
		bench_fail("page %ld came back with wrong data", bad);
}

static const struct workload swapout = {
	.name = "swapout",
	.summary = "MADV_PAGEOUT of private anonymous memory",
	.params = { PARAM_SIZE, { "data", "zero", "zero|distinct|middle" },
		    { "mib", "256", NULL } },
	.vmstat = { "pswpout", "thp_split_page", "thp_split_pmd" },
	.mthp = { "swpout", "swpout_fallback", "split", "split_deferred" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(swapout);

static const struct workload swapout_block = {
	.name = "swapout-block",
	.summary = "MADV_PAGEOUT of private anonymous memory to a block device",
	.params = { PARAM_SIZE, { "data", "distinct", "zero|distinct|middle" },
		    { "mib", "16", NULL } },
	.vmstat = { "pswpout", "thp_split_page", "thp_split_pmd" },
	.mthp = { "swpout", "swpout_fallback", "split", "split_deferred" },
	.setup = setup_block,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(swapout_block);
