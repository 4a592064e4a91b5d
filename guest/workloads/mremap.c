// SPDX-License-Identifier: GPL-2.0
/* Move one MiB from 1 GiB to 1 GiB + 1 MiB; the counted call is mremap(). */
#include <sys/mman.h>

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
