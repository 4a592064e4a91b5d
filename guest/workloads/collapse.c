// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_COLLAPSE of 16 MiB of folios into some of 2 MiB. The copy of the pages is
 * in it.
 */
#include <sys/mman.h>

#include "base/uapi.h"
#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "report/die.h"
#include "run/bench.h"

#define DATA_SEED	0xc01u

static char *area;
static size_t area_len;

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write(area, area_len, DATA_SEED);
	bench_check_folios(area, area_len, kib);
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	int err;

	env_after_tick();
	quire_start();
	err = madvise(area, area_len, MADV_COLLAPSE);
	quire_stop();
	if (err)
		die_errno("MADV_COLLAPSE of %zu bytes", area_len);
}

static void verify(void)
{
	long wrong = pattern_verify(area, area_len, DATA_SEED);

	if (wrong >= 0)
		bench_fail("page %ld is wrong", wrong);
	if (folio_pmd_mapped_kib(area) < area_len / KIB)
		bench_fail("only %lu KiB are mapped by PMD",
			   folio_pmd_mapped_kib(area));
}

static const struct workload collapse = {
	.name = "collapse",
	.summary = "MADV_COLLAPSE of folios",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(collapse);
