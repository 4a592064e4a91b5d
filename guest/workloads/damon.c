// SPDX-License-Identifier: GPL-2.0
/*
 * DAMON on physical memory, a region for each folio: in each sample, all
 * mappings of each folio are made old, and looked at one interval later. Nothing
 * is accessed in between, so each look walks to the end.
 *
 * Its thread runs while this program sleeps. What the ticks of the timer cost
 * meanwhile is in the total, and not in the row's own symbols.
 */
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/damon.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/bench.h"

#define SAMPLE_MS	100
#define SAMPLES		5
/* No window of DAMON ends in the measured region. */
#define WINDOW_MS	3600000

static char *area;
static size_t area_len;
static size_t folio_len;

static void setup(void)
{
	unsigned long kib = bench_number("size");

	if (!damon_available())
		die("this kernel has no DAMON; set CONFIG_DAMON_PADDR and "
		    "CONFIG_DAMON_SYSFS");
	area_len = bench_number("mib") * MIB;
	folio_len = kib * KIB;
	area = folio_map(NULL, area_len, kib);
	memset(area, 1, area_len);
	bench_check_layout(area, area_len, kib);
	/* A page in a batch of the LRU is on no list, and is not monitored. */
	env_drain_lru();
	/* Each page is walked twice in a sample. */
	bench_work(2 * SAMPLES * area_len / PAGE_SIZE, 1);
}

/* The region begins and ends in the middle between two samples. */
static void run(void)
{
	damon_start(area, area_len / folio_len, folio_len, SAMPLE_MS, WINDOW_MS);
	sleep_ms(SAMPLE_MS / 2);
	quire_start();
	sleep_ms(SAMPLE_MS * SAMPLES);
	quire_stop();
	damon_stop();
}

static void verify(void)
{
	size_t off;

	for (off = 0; off < area_len; off += folio_len) {
		if (!(kpage_flags(pagemap_page(area + off).pfn) & KPF_IDLE))
			bench_fail("the folio of page %zu is not idle",
				   off / PAGE_SIZE);
	}
}

static const struct workload damon = {
	.name = "damon",
	.summary = "DAMON's samples of physical memory",
	.params = { PARAM_SIZE, { "mib", "1", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(damon);
