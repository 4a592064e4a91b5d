// SPDX-License-Identifier: GPL-2.0
/* munmap() of one MiB. */
#include <sys/mman.h>

#include "mib.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/bench.h"

static inline __attribute__((always_inline)) int drop(bool counted)
{
	int err;

	if (counted)
		quire_start();
	err = munmap(MIB_ADDR, MIB);
	if (counted)
		quire_stop();
	return err;
}

static void once(bool counted)
{
	size_t left;

	if (counted ? drop(true) : drop(false))
		die_errno("munmap of 1 MiB");
	left = pagemap_present(MIB_ADDR, MIB / PAGE_SIZE);
	if (left)
		bench_fail("%zu pages are still there after munmap", left);
}

static void run(void)
{
	mib_repeat(once);
}

static const struct workload munmap_workload = {
	.name = "munmap",
	.summary = "munmap of 1 MiB",
	.params = MIB_PARAMS,
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_deferred" },
	.run = run,
};
QUIRE_WORKLOAD(munmap_workload);
