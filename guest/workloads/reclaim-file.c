// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_PAGEOUT of a file that is mapped shared. The file is on zonefs on a
 * null_blk device, and write() in chunks of the folio size gives the page cache
 * folios of that size (see mkclean).
 *
 * entries=clean: all pages were read, and their entries are read-only. The
 * folios are unmapped and freed. entries=alternating: every second page was
 * written to through the mapping, so that its entry is writable and dirty and
 * the others are not. The folios are unmapped and stay in the page cache, since
 * reclaim leaves dirty folios of files to the flusher.
 *
 * processes=N: N - 1 children map all of it, too. MADV_PAGEOUT leaves shared folios
 * alone, so a write to memory.reclaim is counted. Nothing was accessed since the
 * accessed bits were cleared.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/large_file.h"
#include "kernel/lru_gen.h"
#include "kernel/memcg.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "process/peer.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED 0xf11eu
#define OLD_SEED 0x01du
#define MAX_CHILDREN 255

static int file;
static char *area;
static size_t area_len;
static struct peer child[MAX_CHILDREN];

static size_t children(void)
{
	return bench_number("processes") - 1;
}

/* Is this one of the pages that are written through the mapping? */
static bool written(size_t page)
{
	return page % 2 && !strcmp(bench_word("entries"), "alternating");
}

/* By write(), which maps nothing. */
static void fill(void)
{
	char page[PAGE_SIZE];
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		pattern_write_page(page, written(n) ? OLD_SEED : SEED, n);
		if (pwrite(file, page, PAGE_SIZE, (off_t)(n * PAGE_SIZE)) !=
		    (ssize_t)PAGE_SIZE)
			die_errno("cannot write page %zu of the file", n);
	}
	if (fsync(file))
		die_errno("fsync of the file");
}

static void touch(void)
{
	const volatile char *at = area;
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++)
		at[n * PAGE_SIZE];
	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (written(n))
			pattern_write_page(area + n * PAGE_SIZE, SEED, n);
	}
}

/* Clearing the accessed bits flushes no TLB, and a protection change does. */
static void clear_accessed(void)
{
	write_file("/proc/self/clear_refs", "1");
	if (mprotect(area, area_len, PROT_READ))
		die_errno("mprotect");
}

static void fork_children(void)
{
	size_t n;

	for (n = 0; n < children(); n++) {
		if (peer_fork(&child[n])) {
			peer_wait(&child[n]);
			continue;
		}
		touch();
		clear_accessed();
		peer_go(&child[n]);
		peer_wait(&child[n]);
		peer_end(&child[n]);
	}
}

static void setup(void)
{
	unsigned long mib = bench_number("mib"), kib = bench_number("size");

	if (children() > MAX_CHILDREN)
		die("%zu children are too many", children());
	if (children()) {
		lru_gen_enable(false);
		memcg_enter();
	}
	area_len = mib * MIB;
	file = large_file(mib, area_len, kib);
	fill();
	area = map_or_die(folio_hole(area_len), area_len,
			  PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
	touch();
	bench_check_folios(area, area_len, kib);
	env_drain_lru();
	if (children()) {
		fork_children();
		clear_accessed();
	}
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run_shared(void)
{
	bench_reclaim(area_len);
}

static void run(void)
{
	int err;

	if (children()) {
		run_shared();
		return;
	}
	env_after_tick();
	quire_start();
	err = madvise(area, area_len, MADV_PAGEOUT);
	quire_stop();
	if (err)
		die_errno("MADV_PAGEOUT");
}

/* What was written through an entry must reach the device. */
static void verify_device(void)
{
	char *data = map_anon(NULL, area_len);
	long bad;

	if (fsync(file))
		die_errno("fsync of the file");
	large_file_read_device(data, area_len);
	bad = pattern_verify(data, area_len, SEED);
	if (bad >= 0)
		bench_fail("page %ld of the device has wrong data", bad);
}

static void verify(void)
{
	size_t left = pagemap_present(area, area_len / PAGE_SIZE), n;
	long bad;

	if (left)
		bench_fail("%zu of %zu pages are still mapped", left,
			   area_len / PAGE_SIZE);
	bad = pattern_verify(area, area_len, SEED);
	if (bad >= 0)
		bench_fail("page %ld of the file has wrong data", bad);
	verify_device();
	for (n = 0; n < children(); n++) {
		peer_turn(&child[n]);
		peer_join(&child[n], "a child that maps the file");
	}
}

static const struct workload reclaim_file = {
	.name = "reclaim-file",
	.summary = "MADV_PAGEOUT of a shared mapping of a file",
	.params = { PARAM_SIZE, { "entries", "alternating", "clean|alternating" },
		    { "processes", "1", NULL },
		    { "mib", "16", "4|8|16|32|64|128" } },
	.vmstat = { "pgsteal_anon", "pgsteal_file", "pgactivate" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(reclaim_file);
