// SPDX-License-Identifier: GPL-2.0
/* mprotect() of one writable, dirty MiB to read-only. */
#include <sys/mman.h>

#include "mib.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

static inline __attribute__((always_inline)) int protect(bool counted)
{
	int err;

	if (counted)
		quire_start();
	err = mprotect(MIB_ADDR, MIB, PROT_READ);
	if (counted)
		quire_stop();
	return err;
}

static void once(bool counted)
{
	if (counted ? protect(true) : protect(false))
		die_errno("mprotect of 1 MiB");
	mib_verify(MIB_ADDR);
	unmap(MIB_ADDR, MIB);
}

static void run(void)
{
	mib_repeat(once);
}

static const struct workload mprotect_workload = {
	.name = "mprotect",
	.summary = "mprotect of 1 MiB to read-only",
	.params = MIB_PARAMS,
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_deferred" },
	.run = run,
};
QUIRE_WORKLOAD(mprotect_workload);
