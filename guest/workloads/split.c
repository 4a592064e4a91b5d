// SPDX-License-Identifier: GPL-2.0
/*
 * madvise() of the first half of each folio of 16 MiB: MADV_COLD, or MADV_FREE as
 * an allocator gives a part of a span back. The range has half of the folio, so
 * that the kernel splits it into single pages first.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/proc.h"
#include "report/die.h"
#include "run/bench.h"

#define DATA_SEED	0x511u

static char *area;
static size_t area_len;
static size_t folio_len;

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	folio_len = kib * KIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write(area, area_len, DATA_SEED);
	bench_check_layout(area, area_len, kib);
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, area_len / folio_len);
}

static int advise_halves(int how)
{
	size_t at;
	int err = 0;

	for (at = 0; at < area_len; at += folio_len)
		err |= madvise(area + at, folio_len / 2, how);
	return err;
}

static void run(void)
{
	int how = strcmp(bench_word("advice"), "free") ? MADV_COLD : MADV_FREE;
	int err;

	env_after_tick();
	quire_start();
	err = advise_halves(how);
	quire_stop();
	if (err)
		die_errno("madvise(%d) of half a folio", how);
}

static void verify(void)
{
	size_t whole, total;
	long bad = pattern_verify(area, area_len, DATA_SEED);

	if (bad >= 0)
		bench_fail("page %ld has wrong data", bad);
	whole = folio_count(area, area_len, folio_len / KIB, &total);
	if (whole)
		bench_fail("%zu of %zu folios have not been split", whole,
			   total);
}

static const struct workload split = {
	.name = "split",
	.summary = "MADV_COLD or MADV_FREE of half of each folio",
	.params = { PARAM_SIZE, { "mib", "16", NULL },
		    { "advice", "cold", "cold|free" } },
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_failed" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(split);
