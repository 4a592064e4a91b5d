// SPDX-License-Identifier: GPL-2.0
/*
 * Move one MiB that is executable or inaccessible: kind=exec, kind=none. Such
 * entries need more than others on some architectures. The counted call is
 * mremap().
 */
#include <string.h>
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

static void protect(char *addr, int prot)
{
	if (mprotect(addr, MIB, prot))
		die_errno("mprotect of 1 MiB at %p", addr);
}

static void once(bool counted)
{
	protect(MIB_ADDR, strcmp(bench_word("kind"), "exec") ?
			  PROT_NONE : PROT_READ | PROT_WRITE | PROT_EXEC);
	if ((counted ? move(true) : move(false)) != MIB_DEST)
		die_errno("mremap of 1 MiB to %p", MIB_DEST);
	protect(MIB_DEST, PROT_READ | PROT_WRITE);
	mib_verify(MIB_DEST);
	unmap(MIB_DEST, MIB);
}

static void run(void)
{
	mib_repeat(once);
}

static const struct workload mremap_protected = {
	.name = "mremap-protected",
	.summary = "mremap of 1 MiB that is executable or inaccessible",
	.params = { { "kind", "exec", "exec|none" }, PARAM_SIZE,
		    { "reps", "32", NULL } },
	.vmstat = { "thp_split_page" },
	.run = run,
};
QUIRE_WORKLOAD(mremap_protected);
