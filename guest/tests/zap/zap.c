// SPDX-License-Identifier: GPL-2.0
/* Large folios that are unmapped in part by MADV_DONTNEED or munmap(). */
#include <sys/mman.h>
#include <unistd.h>

#include "memory/expect.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "process/child.h"
#include "process/map.h"
#include "report/die.h"
#include "run/ktap.h"

/* All pages but the first and the last: the folios at both ends stay in part. */
static void expect_ends(char *at, size_t pages)
{
	expect_content(at, 1, SEED, 0);
	expect_content(page_at(at, pages - 1), 1, SEED, pages - 1);
}

QUIRE_CASE_SIZES(zap, part_reads_zero, ALL_SIZES)
{
	const size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);

	if (madvise(page_at(at, 1), (pages - 2) * PAGE_SIZE, MADV_DONTNEED))
		die_errno("MADV_DONTNEED");
	EXPECT(pagemap_present(page_at(at, 1), pages - 2) == 0,
	       "pages are still mapped");
	expect_zero(page_at(at, 1), pages - 2);
	expect_ends(at, pages);
	expect_writable(at, pages);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(zap, child_keeps, ALL_SIZES)
{
	const size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	pid_t child = fork_child();

	if (!child) {
		unmap(page_at(at, 1), (pages - 2) * PAGE_SIZE);
		expect_ends(at, pages);
		_exit(STATUS_OK);
	}
	wait_child(child, "the child that unmaps");
	child = fork_child();
	if (!child) {
		expect_content(at, pages, SEED, 0);
		_exit(STATUS_OK);
	}
	unmap(page_at(at, 1), (pages - 2) * PAGE_SIZE);
	wait_child(child, "the child that reads");
	expect_ends(at, pages);
	range_drop(at, pages);
}
