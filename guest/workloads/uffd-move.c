// SPDX-License-Identifier: GPL-2.0
/*
 * UFFDIO_MOVE of 16 MiB of written folios in one call, as a garbage collector
 * moves live memory. Source and target are aligned alike; or, for uffd-move-down,
 * the target begins only a few KiB before the source, and overlaps it.
 */
#include "base/uapi.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/uffd.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "process/map.h"
#include "run/bench.h"

#define DATA_SEED	0x3f0u

static char *from, *to;
static size_t len;
static int uffd;

static void fill(unsigned long kib)
{
	pattern_write(from, len, DATA_SEED);
	bench_check_folios(from, len, kib);
}

static void make_target(size_t area)
{
	uffd = uffd_open(UFFD_FEATURE_MOVE);
	uffd_register(uffd, to, area, UFFDIO_REGISTER_MODE_MISSING);
	env_drain_lru();
	bench_work(len / PAGE_SIZE, 1);
}

static void setup(void)
{
	unsigned long kib = bench_number("size");

	len = bench_number("mib") * MIB;
	from = folio_map(NULL, len, kib);
	fill(kib);
	to = map_anon(folio_hole(len), len);
	make_target(len);
}

static void setup_down(void)
{
	unsigned long kib = bench_number("size");
	size_t down = bench_number("down") * KIB;

	len = bench_number("mib") * MIB;
	to = folio_map(NULL, down + len, kib);
	from = to + down;
	fill(kib);
	make_target(down + len);
}

static void run(void)
{
	long moved;

	env_after_tick();
	quire_start();
	moved = uffd_move(uffd, to, from, len);
	quire_stop();
	if (moved != (long)len)
		bench_fail("%ld bytes moved of %zu", moved, len);
}

static void verify(void)
{
	long wrong = pattern_verify(to, len, DATA_SEED);

	if (wrong >= 0)
		bench_fail("page %ld is wrong", wrong);
}

static const struct workload uffd_move_workload = {
	.name = "uffd-move",
	.summary = "UFFDIO_MOVE of folios",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.mthp = { "split" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(uffd_move_workload);

static const struct workload uffd_move_down_workload = {
	.name = "uffd-move-down",
	.summary = "UFFDIO_MOVE by a few KiB down, onto itself",
	.params = { PARAM_SIZE, { "mib", "16", NULL }, { "down", "4", NULL } },
	.mthp = { "split" },
	.setup = setup_down,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(uffd_move_down_workload);
