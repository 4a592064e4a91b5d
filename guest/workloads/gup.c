// SPDX-License-Identifier: GPL-2.0
/*
 * Pinning pages for writing: direct reads from a block device, zram, into
 * memory whose PTEs only the hardware has marked dirty.
 *
 * MADV_FREE clears the dirty bits of the written folios. A second write to each
 * page sets the hardware's dirty bit, on arm64 (if the CPU manages it) and no
 * other bit. The fast path reads the page tables without their lock, and reads
 * them again to see that they have not changed. If one answer differs, the slow
 * path has to find the pages under mmap_lock.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED_FREED	0x9a1u
#define SEED_KEPT	0x9a2u
#define SEED_DEVICE	0x9a3u

static char *area;
static size_t area_len;
static int device;

static void fill_device(void)
{
	char *from = map_anon(NULL, area_len);

	device = open(swap_spare_device(area_len / PAGE_SIZE),
		      O_RDWR | O_DIRECT | O_CLOEXEC);
	if (device < 0)
		die_errno("cannot open the spare device for direct I/O");
	pattern_write_words(from, area_len, SEED_DEVICE);
	if (pwrite(device, from, area_len, 0) != (ssize_t)area_len)
		die_errno("cannot fill the spare device");
	unmap(from, area_len);
}

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	folio_want(PAGE_KIB);
	fill_device();
	area = folio_map(NULL, area_len, kib);
	pattern_write_words(area, area_len, SEED_FREED);
	if (madvise(area, area_len, MADV_FREE))
		die_errno("MADV_FREE");
	pattern_write_words(area, area_len, SEED_KEPT);
	bench_check_layout(area, area_len, kib);
	bench_work(area_len / PAGE_SIZE, area_len / MIB);
}

static void run(void)
{
	size_t at;

	for (at = 0; at < area_len; at += MIB) {
		ssize_t got;

		env_after_tick();
		quire_start();
		got = pread(device, area + at, MIB, at);
		quire_stop();
		if (got != (ssize_t)MIB)
			die_errno("direct read of 1 MiB gave %zd", got);
	}
}

static void verify(void)
{
	long bad = pattern_verify_words(area, area_len, SEED_DEVICE);

	if (bad >= 0)
		bench_fail("page %ld does not hold what was read into it", bad);
	close(device);
}

static const struct workload gup = {
	.name = "gup",
	.summary = "direct reads into folios that were written after MADV_FREE",
	.params = { PARAM_SIZE, { "mib", "8", NULL } },
	.vmstat = { "pgfault", "thp_split_page" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(gup);
