// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory that is mapped page by page, and then by its PMD. What was read
 * first and written later is dirty in the entries of its pages, and nowhere else.
 */
#include <sys/mman.h>

#include "base/uapi.h"
#include "kernel/memcg.h"
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/proc.h"
#include "process/map.h"
#include "run/ktap.h"

/*
 * A folio of PMD_SIZE that was only read, mapped by a writable entry a page: it
 * takes the place of small pages, whose page table stays.
 */
static char *read_by_ptes(void)
{
	char *at = range_hole(SRC_BASE, PMD_PAGES);

	memcg_enter();
	folio_want_shmem(PAGE_KIB);
	map_or_die(at, PMD_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	expect_zero(at, 1);
	range_advise(at, PMD_PAGES, MADV_REMOVE);
	folio_want_shmem(PMD_KIB);
	expect_zero(at, PMD_PAGES);
	folio_want_shmem(PAGE_KIB);
	ASSERT(folio_is_size(at, PMD_KIB), "no folio of %zu KiB", PMD_KIB);
	ASSERT(!smaps_kib(at, "ShmemPmdMapped"), "mapped by a PMD");
	return at;
}

/* What is written from that page on outlives a collapse and reclaim. */
static void expect_kept(size_t first)
{
	char *at;

	must_fit(2 * PMD_SIZE);
	swap_on(SWAP_FOR_TESTS);
	at = read_by_ptes();
	pattern_write(page_at(at, first), (PMD_PAGES - first) * PAGE_SIZE, SEED);
	EXPECT(!madvise(at, PMD_SIZE, MADV_COLLAPSE), "MADV_COLLAPSE: %m");
	ASSERT(smaps_kib(at, "ShmemPmdMapped") == PMD_KIB,
	       "only %lu KiB are mapped by PMD", smaps_kib(at, "ShmemPmdMapped"));
	reclaim(at, PMD_PAGES, BY_PAGEOUT);
	expect_zero(at, first);
	expect_content(page_at(at, first), PMD_PAGES - first, SEED, 0);
	unmap(at, PMD_SIZE);
}

QUIRE_CASE_CALL_TAGGED(fixes, collapse_keeps_written, FIXES, expect_kept(0))

/* No entry is dirty but the last of a run. */
QUIRE_CASE_CALL_TAGGED(fixes, collapse_keeps_last, FIXES, expect_kept(PMD_PAGES - 1))
