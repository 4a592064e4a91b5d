// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of lazily freed memory: 128 MiB are written, freed by MADV_FREE, and
 * reclaimed by MADV_PAGEOUT. The counted call is the second madvise, or for
 * madv-free the first. process=pinned: this one has pinned a page before, for
 * direct I/O, which the kernel never forgets.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED_FREED	0x1afu
#define SEED_KEPT	0x2bfu

static char *area;
static size_t area_len;

static void map(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write(area, area_len, SEED_FREED);
	bench_work(area_len / PAGE_SIZE, 1);
}

static void map_and_free(void)
{
	map();
	if (madvise(area, area_len, MADV_FREE))
		die_errno("MADV_FREE");
}

/* Reads a block past the page cache into a page elsewhere. */
static void pin_once(void)
{
	char *page = map_anon(NULL, PAGE_SIZE);
	int device = swap_open_spare(1);

	if (pread(device, page, PAGE_SIZE, 0) != (ssize_t)PAGE_SIZE)
		die_errno("cannot read from the spare device");
	close(device);
	unmap(page, PAGE_SIZE);
}

/*
 * MADV_FREE leaves out what is not on the lists yet. The second time, the folios
 * are lazyfree already and stay on their list.
 */
static void setup_free(void)
{
	if (!strcmp(bench_word("process"), "pinned"))
		pin_once();
	map();
	env_drain_lru();
	if (!strcmp(bench_word("time"), "second")) {
		if (madvise(area, area_len, MADV_FREE))
			die_errno("MADV_FREE");
		env_drain_lru();
		pattern_write(area, area_len, SEED_KEPT);
	}
	bench_check_layout(area, area_len, bench_number("size"));
}

static void setup(void)
{
	map_and_free();
	bench_check_layout(area, area_len, bench_number("size"));
}

/* The new data makes every page dirty again: reclaim must not drop it. */
static void setup_redirtied(void)
{
	map_and_free();
	pattern_write(area, area_len, SEED_KEPT);
	bench_check_layout(area, area_len, bench_number("size"));
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

static void run_free(void)
{
	int err;

	env_after_tick();
	quire_start();
	err = madvise(area, area_len, MADV_FREE);
	quire_stop();
	if (err)
		die_errno("MADV_FREE");
}

static void verify_dropped(void)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t present = pagemap_present(area, pages);
	size_t swapped = pagemap_swapped(area, pages);
	long bad;

	if (present || swapped)
		bench_fail("of %zu pages %zu are still mapped, %zu swapped",
			   pages, present, swapped);
	bad = pattern_verify_zero(area, area_len);
	if (bad >= 0)
		bench_fail("page %ld does not read as zero", bad);
}

static void verify_freed(void)
{
	env_drain_lru();
	if (madvise(area, area_len, MADV_PAGEOUT))
		die_errno("MADV_PAGEOUT");
	verify_dropped();
}

static void verify_kept(void)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t present = pagemap_present(area, pages);
	long bad;

	if (present != pages)
		bench_fail("only %zu of %zu redirtied pages are still mapped",
			   present, pages);
	bad = pattern_verify(area, area_len, SEED_KEPT);
	if (bad >= 0)
		bench_fail("page %ld lost what was written after MADV_FREE",
			   bad);
}

static const struct workload lazyfree = {
	.name = "lazyfree",
	.summary = "MADV_PAGEOUT of clean lazily freed memory",
	.params = { PARAM_SIZE, { "mib", "128", NULL } },
	.vmstat = { "pglazyfreed", "thp_split_page", "thp_split_pmd" },
	.mthp = { "split_deferred", "split" },
	.setup = setup,
	.run = run,
	.verify = verify_dropped,
};
QUIRE_WORKLOAD(lazyfree);

static const struct workload lazyfree_redirtied = {
	.name = "lazyfree-redirtied",
	.summary = "MADV_PAGEOUT of lazily freed memory written again",
	.params = { PARAM_SIZE, { "mib", "128", NULL } },
	.vmstat = { "pglazyfreed", "thp_split_page", "thp_split_pmd" },
	.mthp = { "split_deferred", "split" },
	.setup = setup_redirtied,
	.run = run,
	.verify = verify_kept,
};
QUIRE_WORKLOAD(lazyfree_redirtied);

static const struct workload madv_free = {
	.name = "madv-free",
	.summary = "MADV_FREE of written memory",
	.params = { PARAM_SIZE, { "mib", "128", NULL },
		    { "time", "first", "first|second" },
		    { "process", "plain", "plain|pinned" } },
	.setup = setup_free,
	.run = run_free,
	.verify = verify_freed,
};
QUIRE_WORKLOAD(madv_free);
