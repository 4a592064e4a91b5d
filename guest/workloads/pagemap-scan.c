// SPDX-License-Identifier: GPL-2.0
/*
 * PAGEMAP_SCAN of 16 MiB that write-protects the pages written to and tells
 * which they are: a pass of a tracker of writes. In the first pass these are all
 * pages. In a later one (again), it is one in 64.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/uapi.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/uffd.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/bench.h"

#define DATA_SEED	0x5c4u

#define WRITTEN_EVERY	64u	/* pages */

static char *area;
static size_t area_len;
static int pagemap;
static struct page_region regions[4096];

static size_t scan(void)
{
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.start = (uintptr_t)area,
		.end = (uintptr_t)area + area_len,
		.vec = (uintptr_t)regions,
		.vec_len = ARRAY_SIZE(regions),
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};
	int filled = ioctl(pagemap, PAGEMAP_SCAN, &arg);

	if (filled < 0)
		die_errno("PAGEMAP_SCAN");
	return filled;
}

static size_t expected_regions(void)
{
	if (!strcmp(bench_word("pass"), "first"))
		return 1;
	return area_len / PAGE_SIZE / WRITTEN_EVERY;
}

/* A first pass, then some writes. */
static void track(void)
{
	size_t n;

	scan();
	for (n = 0; n < area_len; n += WRITTEN_EVERY * PAGE_SIZE)
		area[n]++;
}

static void setup(void)
{
	unsigned long kib = bench_number("size");
	int uffd;

	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write(area, area_len, DATA_SEED);
	bench_check_folios(area, area_len, kib);
	uffd = uffd_open(UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED);
	uffd_register_wp(uffd, area, area_len);
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		die_errno("cannot open /proc/self/pagemap");
	memset(regions, 0, sizeof(regions));
	if (strcmp(bench_word("pass"), "first"))
		track();
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	size_t filled;

	env_after_tick();
	quire_start();
	filled = scan();
	quire_stop();
	if (filled != expected_regions())
		bench_fail("%zu regions, not %zu", filled, expected_regions());
}

static void verify(void)
{
	size_t n;

	for (n = 0; n < area_len; n += PAGE_SIZE) {
		if (!pagemap_page(area + n).uffd_wp)
			bench_fail("page %zu is not protected", n / PAGE_SIZE);
	}
}

static const struct workload pagemap_scan = {
	.name = "pagemap-scan",
	.summary = "PAGEMAP_SCAN that write-protects",
	.params = { PARAM_SIZE, { "mib", "16", NULL },
		    { "pass", "first", "first|again" } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(pagemap_scan);
