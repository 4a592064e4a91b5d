// SPDX-License-Identifier: GPL-2.0
/*
 * Move 256 MiB to another place that is aligned to page tables, so that these
 * move as they are. tracked=on: soft-dirty has been cleared before, as by what
 * tracks the writes of a process. The counted call is mremap().
 *
 * That what moved is soft-dirty is not checked here: stock leaves it as it was
 * (fixes.moved_*).
 */
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define FROM	((char *)(4 * GIB))
#define TO	((char *)(8 * GIB))
#define SEED	0x7ac4u

static size_t len;

static inline __attribute__((always_inline)) void *move(char *from, char *to,
						       bool counted)
{
	void *p;

	if (counted)
		quire_start();
	p = mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (counted)
		quire_stop();
	return p;
}

static void once(char *from, char *to, bool counted)
{
	if (!strcmp(bench_word("tracked"), "on"))
		pagemap_clear_soft_dirty();
	env_after_tick();
	if ((counted ? move(from, to, true) : move(from, to, false)) != to)
		die_errno("mremap of %zu MiB to %p", len / MIB, to);
}

static void setup(void)
{
	len = bench_number("mib") * MIB;
	if (!pagemap_has_soft_dirty())
		die("this kernel has no soft-dirty tracking");
	folio_map(FROM, len, bench_number("size"));
	pattern_write(FROM, len, SEED);
	bench_check_folios(FROM, len, bench_number("size"));
	env_drain_lru();
}

static void run(void)
{
	unsigned long i, rounds = bench_number("rounds");

	once(FROM, TO, false);
	once(TO, FROM, false);
	for (i = 0; i < rounds; i++) {
		once(FROM, TO, true);
		once(TO, FROM, true);
	}
	bench_work(0, 2 * rounds);
}

static void verify(void)
{
	long bad = pattern_verify(FROM, len, SEED);

	if (bad >= 0)
		bench_fail("page %ld has wrong data", bad);
	unmap(FROM, len);
}

static const struct workload mremap_tracked = {
	.name = "mremap-tracked",
	.summary = "mremap of 256 MiB in whole page tables, soft-dirty tracked or not",
	.params = { PARAM_SIZE, { "tracked", "on", "on|off" },
		    { "mib", "256", NULL }, { "rounds", "2", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(mremap_tracked);
