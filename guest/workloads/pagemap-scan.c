// SPDX-License-Identifier: GPL-2.0
/*
 * PAGEMAP_SCAN of 16 MiB that write-protects the pages written to, all of them,
 * and tells which they are: one pass of a tracker of writes.
 */
#include <fcntl.h>
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

static char *area;
static size_t area_len;
static int pagemap;

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
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	struct page_region region = {};
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.start = (uintptr_t)area,
		.end = (uintptr_t)area + area_len,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};
	int regions;

	env_after_tick();
	quire_start();
	regions = ioctl(pagemap, PAGEMAP_SCAN, &arg);
	quire_stop();
	if (regions != 1 || region.end - region.start != area_len)
		bench_fail("%d regions; the first has %llu KiB", regions,
			   (region.end - region.start) / KIB);
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
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(pagemap_scan);
