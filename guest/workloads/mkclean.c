// SPDX-License-Identifier: GPL-2.0
/*
 * msync(MS_SYNC) of a file that is mapped shared and entirely dirty. Before the
 * kernel writes a folio back, it makes its entries clean and read-only
 * (folio_mkclean()). The file is on zonefs on a null_blk device, which
 * completes each bio inside the call.
 *
 * write() in chunks of the folio size gives the page cache folios of that size.
 * Each page is then written through the mapping: a fault each. The first fault
 * in a folio of 2 MiB maps all of it, by its PMD.
 *
 * cycle=2: all pages were cleaned once, and written again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/large_file.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED 0xc1eau

static int file;
static char *area;
static size_t area_len;

static char *map_file(void)
{
	return map_or_die(folio_hole(area_len), area_len,
			  PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
}

/* By the flag of the folio; an entry may be dirty as well. */
static size_t dirty_folios(void)
{
	size_t folio = bench_number("size") * KIB, off, dirty = 0;

	for (off = 0; off < area_len; off += folio) {
		struct page_state state = pagemap_page(area + off);

		if (!state.present)
			die("the page at %zu KiB is not mapped", off / KIB);
		dirty += !!(kpage_flags(state.pfn) & KPF_DIRTY);
	}
	return dirty;
}

static void require_dirty(const char *when, size_t want)
{
	size_t dirty = dirty_folios();

	if (dirty != want)
		bench_fail("%s msync %zu folios are dirty, not %zu", when,
			   dirty, want);
}

static void check_mapping(unsigned long kib)
{
	unsigned long by_pmd = smaps_kib(area, "FilePmdMapped") * KIB;

	if (by_pmd != (kib * KIB == PMD_SIZE ? area_len : 0))
		bench_fail("%lu of %zu KiB are mapped by PMD", by_pmd / KIB,
			   area_len / KIB);
}

/* The second cycle: each page is written by an entry of its own. */
static void write_again(void)
{
	if (msync(area, area_len, MS_SYNC))
		die_errno("msync of %zu KiB", area_len / KIB);
	require_dirty("between", 0);
	pattern_write(area, area_len, SEED);
}

static void setup(void)
{
	unsigned long mib = bench_number("mib"), kib = bench_number("size");

	area_len = mib * MIB;
	file = large_file(mib, area_len, kib);
	area = map_file();
	pattern_write(area, area_len, SEED);
	bench_check_folios(area, area_len, kib);
	check_mapping(kib);
	if (bench_number("cycle") == 2)
		write_again();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	int err;

	require_dirty("before", area_len / (bench_number("size") * KIB));
	env_after_tick();
	quire_start();
	err = msync(area, area_len, MS_SYNC);
	quire_stop();
	if (err)
		die_errno("msync of %zu KiB", area_len / KIB);
	require_dirty("after", 0);
}

static void require_not_cached(void)
{
	unsigned char *cached = malloc(area_len / PAGE_SIZE);
	size_t n;

	if (!cached || mincore(area, area_len, cached))
		die_errno("cannot ask which pages are cached");
	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (cached[n] & 1)
			bench_fail("page %zu is still in the page cache", n);
	}
	free(cached);
}

/* What the device has must be what was written through the mapping. */
static void verify(void)
{
	long bad;

	unmap(area, area_len);
	errno = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	if (errno)
		die_errno("POSIX_FADV_DONTNEED");
	area = map_file();
	require_not_cached();
	bad = pattern_verify(area, area_len, SEED);
	if (bad >= 0)
		bench_fail("page %ld of the device has wrong data", bad);
}

static const struct workload mkclean = {
	.name = "mkclean",
	.summary = "msync of a dirty shared mapping of a file",
	.params = { PARAM_SIZE, { "cycle", "1", "1|2" },
		    { "mib", "16", "4|8|16|32|64|128" } },
	.vmstat = { "nr_dirtied", "nr_written" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(mkclean);
