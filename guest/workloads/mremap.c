// SPDX-License-Identifier: GPL-2.0
/*
 * Move one MiB from 1 GiB to 1 GiB + 1 MiB; the counted call is mremap().
 *
 * mremap-loop: as the public series times it, all that one round of its program
 * does: mmap(), memset(), mremap() and munmap().
 */
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"

#include "mib.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

static inline __attribute__((always_inline)) void *move(bool counted)
{
	void *p;

	if (counted)
		quire_start();
	p = mremap(MIB_ADDR, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, MIB_DEST);
	if (counted)
		quire_stop();
	return p;
}

/* Two copies of move(), so that no test of `counted` is between the markers. */
static void once(bool counted)
{
	if ((counted ? move(true) : move(false)) != MIB_DEST)
		die_errno("mremap of 1 MiB to %p", MIB_DEST);
	mib_verify(MIB_DEST);
	unmap(MIB_DEST, MIB);
}

static void run(void)
{
	mib_repeat(once);
}

static const struct workload mremap_workload = {
	.name = "mremap",
	.summary = "mremap of 1 MiB by 1 MiB",
	.params = MIB_PARAMS,
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_deferred" },
	.run = run,
};
QUIRE_WORKLOAD(mremap_workload);

#define BYTE	0xaa

static inline __attribute__((always_inline)) void begin_round(void)
{
	if (mmap(MIB_ADDR, MIB, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != MIB_ADDR)
		die_errno("mmap of 1 MiB at %p", MIB_ADDR);
	memset(MIB_ADDR, BYTE, MIB);
	if (mremap(MIB_ADDR, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED,
		   MIB_DEST) != MIB_DEST)
		die_errno("mremap of 1 MiB to %p", MIB_DEST);
}

/* The first round fills caches and page tables, and shows what rounds do. */
static void first_round(void)
{
	size_t n;

	begin_round();
	bench_check_folios(MIB_DEST, MIB, bench_number("size"));
	for (n = 0; n < MIB; n++) {
		if ((unsigned char)MIB_DEST[n] != BYTE)
			bench_fail("byte %zu is not what was written", n);
	}
	unmap(MIB_DEST, MIB);
}

static void run_loop(void)
{
	unsigned long i, reps = bench_reps();

	folio_want(bench_number("size"));
	first_round();
	env_after_tick();
	for (i = 0; i < reps; i++) {
		quire_start();
		begin_round();
		munmap(MIB_DEST, MIB);
		quire_stop();
	}
	bench_work(reps * MIB / PAGE_SIZE, reps);
}

static const struct workload mremap_loop = {
	.name = "mremap-loop",
	.summary = "mmap, memset, mremap and munmap of 1 MiB",
	.params = { PARAM_SIZE, { "reps", "16", NULL } },
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_deferred" },
	.run = run_loop,
};
QUIRE_WORKLOAD(mremap_loop);
