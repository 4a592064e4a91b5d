// SPDX-License-Identifier: GPL-2.0
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "mib.h"
#include "process/map.h"
#include "run/bench.h"
#include "run/frames.h"

static void map_mib(unsigned long kib)
{
	size_t len = kib * KIB > MIB ? kib * KIB : MIB;

	folio_map(MIB_ADDR, len, kib);
	pattern_write(MIB_ADDR, MIB, MIB_SEED);
	bench_check_folios(MIB_ADDR, len, kib);
	if (len > MIB)
		unmap(MIB_ADDR + MIB, len - MIB);
}

void mib_repeat(void (*once)(bool counted))
{
	unsigned long i, reps = bench_reps();

	for (i = 0; i <= reps; i++) {
		map_mib(bench_number("size"));
		env_drain_lru();
		frames_name_tables();	/* each round has new ones */
		env_after_tick();
		once(i > 0);
	}
	bench_work(reps * MIB / PAGE_SIZE, reps);
}

void mib_verify(const char *addr)
{
	long bad = pattern_verify(addr, MIB, MIB_SEED);

	if (bad >= 0)
		bench_fail("page %ld at %p has wrong data", bad, addr);
}
