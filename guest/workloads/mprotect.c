// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect() of one writable, dirty MiB to read-only.
 *
 * mprotect-writable: the way back.
 *
 * mprotect-mixed: every eighth or sixteenth page (every=8, every=16) was dropped
 * and written again, and is a small folio now; and so are the first pages, that
 * they may lead to expect more of them. The others are still in their large
 * folios.
 */
#include <sys/mman.h>

#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "mib.h"
#include "process/map.h"
#include "process/peer.h"
#include "report/die.h"
#include "run/bench.h"

#define BLOCK	(units.block / PAGE_SIZE)
#define FRONT	9u	/* small pages at the beginning, the next of `every` with them */

static inline __attribute__((always_inline)) int protect(bool counted, int prot)
{
	int err;

	if (counted)
		quire_start();
	err = mprotect(MIB_ADDR, MIB, prot);
	if (counted)
		quire_stop();
	return err;
}

static void once(bool counted)
{
	if (counted ? protect(true, PROT_READ) : protect(false, PROT_READ))
		die_errno("mprotect of 1 MiB");
	mib_verify(MIB_ADDR);
	unmap(MIB_ADDR, MIB);
}

static void run(void)
{
	mib_repeat(once);
}

static void replace(size_t n)
{
	char *page = MIB_ADDR + n * PAGE_SIZE;

	if (madvise(page, PAGE_SIZE, MADV_DONTNEED))
		die_errno("MADV_DONTNEED of page %zu", n);
	pattern_write_page(page, MIB_SEED, n);
	if (!folio_is_size(page, PAGE_SIZE / KIB))
		bench_fail("page %zu is in a large folio", n);
}

static void once_mixed(bool counted)
{
	unsigned long every = bench_number("every");
	size_t n;

	folio_want(PAGE_SIZE / KIB);
	for (n = 0; n < MIB / PAGE_SIZE; n++) {
		if (n < FRONT || n % every == 0)
			replace(n);
	}
	once(counted);
}

static void run_mixed(void)
{
	mib_repeat(once_mixed);
}

static void protect_page(size_t n, int prot)
{
	if (mprotect(MIB_ADDR + n * PAGE_SIZE, PAGE_SIZE, prot))
		die_errno("mprotect of page %zu", n);
}

/* A block is folded when its last entry is set, and not when its first one is. */
static void once_single(bool counted)
{
	size_t n;

	for (n = 0; n < MIB / PAGE_SIZE; n += BLOCK)
		protect_page(n, PROT_READ);
	for (n = 0; n < MIB / PAGE_SIZE; n += BLOCK)
		protect_page(n, PROT_READ | PROT_WRITE);
	once(counted);
}

static void run_single(void)
{
	mib_repeat(once_single);
}

static void once_writable(bool counted)
{
	const int prot = PROT_READ | PROT_WRITE;

	if (protect(false, PROT_READ))
		die_errno("mprotect of 1 MiB to read-only");
	env_after_tick();
	if (counted ? protect(true, prot) : protect(false, prot))
		die_errno("mprotect of 1 MiB to writable");
	mib_verify(MIB_ADDR);
	unmap(MIB_ADDR, MIB);
}

static void run_writable(void)
{
	mib_repeat(once_writable);
}

static void once_exclusive(bool counted)
{
	struct peer child;
	size_t n;

	for (n = 0; n < MIB / PAGE_SIZE; n += 2) {
		if (madvise(MIB_ADDR + n * PAGE_SIZE, PAGE_SIZE, MADV_DONTFORK))
			die_errno("MADV_DONTFORK of page %zu", n);
	}
	if (!peer_fork(&child))
		peer_end(&child);
	peer_wait(&child);
	peer_join(&child, "the child that shares every second page");
	if (madvise(MIB_ADDR, MIB, MADV_DOFORK))
		die_errno("MADV_DOFORK");
	once_writable(counted);
}

static void run_exclusive(void)
{
	mib_repeat(once_exclusive);
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

static const struct workload mprotect_writable = {
	.name = "mprotect-writable",
	.summary = "mprotect of 1 MiB back to writable",
	.params = MIB_PARAMS,
	.run = run_writable,
};
QUIRE_WORKLOAD(mprotect_writable);

static const struct workload mprotect_mixed = {
	.name = "mprotect-mixed",
	.summary = "mprotect of 1 MiB of large folios and small ones between them",
	.params = { { "every", "8", NULL }, PARAM_SIZE,
		    { "reps", "32", NULL } },
	.vmstat = { "thp_split_page" },
	.mthp = { "split", "split_deferred" },
	.run = run_mixed,
};
QUIRE_WORKLOAD(mprotect_mixed);

static const struct workload mprotect_single = {
	.name = "mprotect-single",
	.summary = "mprotect of 1 MiB whose contpte blocks are single entries",
	.params = MIB_PARAMS,
	.run = run_single,
};
QUIRE_WORKLOAD(mprotect_single);

static const struct workload mprotect_exclusive = {
	.name = "mprotect-exclusive",
	.summary = "mprotect of 1 MiB to writable, every second page exclusive",
	.params = MIB_PARAMS,
	.run = run_exclusive,
};
QUIRE_WORKLOAD(mprotect_exclusive);
