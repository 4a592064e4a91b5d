// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of a file on a null_blk device, which completes each bio inside the
 * call. The filesystem has large folios: zonefs, or with configs/xfs.config XFS,
 * or with configs/ext4.config ext4, which has them from 6.16 on. Nothing of the
 * file is cached, so that readahead chooses the folios.
 *
 * access=sequential: read() of 64 KiB after the other. access=random: pread() of
 * single pages in an order without a pattern; each page once. access=mapped: a
 * byte of each page of a shared mapping, in order. access=cached: read() of 64
 * KiB of a file in folios of 64 KiB that is in the page cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/large_file.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED 0x4eadu
#define CHUNK (64 * KIB)

static int file;
/* What is read: a buffer, or the mapping. */
static char *area;
static size_t area_len;
/* The pages in the order of random reads. */
static size_t *order;

static bool access_is(const char *name)
{
	return !strcmp(bench_word("access"), name);
}

static void fill(void)
{
	char *data = map_anon(NULL, area_len);

	pattern_write(data, area_len, SEED);
	if (pwrite(file, data, area_len, 0) != (ssize_t)area_len)
		die_errno("cannot write %zu KiB", area_len / KIB);
	if (fsync(file))
		die_errno("fsync of the file");
	unmap(data, area_len);
}

static char *map_file(void)
{
	return map_or_die(folio_hole(area_len), area_len, PROT_READ,
			  MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
}

static void touch(const char *mapped)
{
	const volatile char *byte = mapped;
	size_t at;

	for (at = 0; at < area_len; at += PAGE_SIZE)
		byte[at];
}

/* The filesystem has large folios. */
static void check_folios(void)
{
	char *mapped = map_file();

	touch(mapped);
	bench_check_folios(mapped, area_len, CHUNK / KIB);
	unmap(mapped, area_len);
}

static void drop_cache(void)
{
	size_t pages = area_len / PAGE_SIZE, n;
	unsigned char *cached = malloc(pages);
	char *mapped;

	env_drain_lru();
	errno = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	if (errno)
		die_errno("POSIX_FADV_DONTNEED");
	mapped = map_file();
	if (!cached || mincore(mapped, area_len, cached))
		die_errno("cannot ask which pages are cached");
	for (n = 0; n < pages; n++) {
		if (cached[n] & 1)
			bench_fail("page %zu is still in the page cache", n);
	}
	unmap(mapped, area_len);
	free(cached);
}

static void shuffle(void)
{
	size_t pages = area_len / PAGE_SIZE, n, other, page;
	uint32_t random = 1;

	order = calloc(pages, sizeof(*order));
	if (!order)
		die("no memory for the order of %zu pages", pages);
	for (n = 0; n < pages; n++)
		order[n] = n;
	for (n = pages - 1; n > 0; n--) {
		other = random_below(&random, n + 1);
		page = order[n];
		order[n] = order[other];
		order[other] = page;
	}
}

static void setup(void)
{
	unsigned long mib = bench_number("mib");

	area_len = mib * MIB;
	file = large_file(mib, area_len, CHUNK / KIB);
	fill();
	if (large_file_any_kernel())
		check_folios();
	shuffle();
	if (!access_is("cached"))
		drop_cache();
	if (access_is("mapped")) {
		area = map_file();
	} else {
		area = map_anon(NULL, area_len);
		memset(area, 1, area_len);
	}
	bench_work(area_len / PAGE_SIZE, 1);
}

static void read_at(size_t at, size_t len)
{
	if (pread(file, area + at, len, (off_t)at) != (ssize_t)len)
		die_errno("cannot read %zu KiB at %zu", len / KIB, at / KIB);
}

static void run(void)
{
	bool mapped = access_is("mapped"), random = access_is("random");
	size_t at;

	env_after_tick();
	quire_start();
	if (mapped) {
		touch(area);
	} else if (random) {
		for (at = 0; at < area_len / PAGE_SIZE; at++)
			read_at(order[at] * PAGE_SIZE, PAGE_SIZE);
	} else {
		for (at = 0; at < area_len; at += CHUNK)
			read_at(at, CHUNK);
	}
	quire_stop();
}

static void verify(void)
{
	long bad = pattern_verify(area, area_len, SEED);

	if (bad >= 0)
		bench_fail("page %ld of the file has wrong data", bad);
}

static const struct workload read_file = {
	.name = "read",
	.summary = "reads of a file that is not in the page cache",
	.params = { { "access", "sequential",
		      "sequential|random|mapped|cached" },
		    { "mib", "16", "4|8|16|32|64|128" } },
	.vmstat = { "pgpgin", "workingset_refault_file" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(read_file);
