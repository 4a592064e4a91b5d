// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_POPULATE_READ of folios that are mapped already: what it costs to find
 * that each page is there. mlock(), process_vm_readv() and what cannot pin
 * without mmap_lock find pages in the same way.
 *
 * vmsplice: the pages of one MiB become the buffers of a pipe. They are found
 * without a lock, as for direct I/O.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "mib.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

static void once(bool counted)
{
	int err;

	if (counted)
		quire_start();
	err = madvise(MIB_ADDR, MIB, MADV_POPULATE_READ);
	if (counted)
		quire_stop();
	if (err)
		die_errno("MADV_POPULATE_READ of 1 MiB");
	mib_verify(MIB_ADDR);
	unmap(MIB_ADDR, MIB);
}

static void run(void)
{
	mib_repeat(once);
}

static void once_spliced(bool counted)
{
	struct iovec from = { MIB_ADDR, MIB };
	int ends[2];
	ssize_t got;

	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, MIB) < 0)
		die_errno("cannot make a pipe of 1 MiB");
	env_after_tick();
	if (counted)
		quire_start();
	got = vmsplice(ends[1], &from, 1, 0);
	if (counted)
		quire_stop();
	if (got != (ssize_t)MIB)
		die_errno("vmsplice of 1 MiB gave %zd", got);
	close(ends[0]);
	close(ends[1]);
	mib_verify(MIB_ADDR);
	unmap(MIB_ADDR, MIB);
}

static void run_spliced(void)
{
	mib_repeat(once_spliced);
}

static const struct workload populate = {
	.name = "populate",
	.summary = "MADV_POPULATE_READ of 1 MiB that is mapped already",
	.params = MIB_PARAMS,
	.run = run,
};
QUIRE_WORKLOAD(populate);

static const struct workload vmsplice_workload = {
	.name = "vmsplice",
	.summary = "vmsplice of 1 MiB into a pipe",
	.params = MIB_PARAMS,
	.run = run_spliced,
};
QUIRE_WORKLOAD(vmsplice_workload);
