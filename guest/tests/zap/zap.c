// SPDX-License-Identifier: GPL-2.0
/* Large folios that are unmapped in part by MADV_DONTNEED or munmap(). */
#include <sys/mman.h>
#include <unistd.h>

#include "proc/pagemap.h"
#include "process/child.h"
#include "process/map.h"
#include "report/die.h"
#include "tests/matrix/trial.h"

/* All pages but the first and the last: the folios at both ends stay in part. */
static void expect_ends(char *at, size_t pages)
{
	expect_content(at, 1, SEED, 0);
	expect_content(page_at(at, pages - 1), 1, SEED, pages - 1);
}

TRIAL_CASE(zap, part_reads_zero, plain, 0, ALL_SIZES)
{
	range_advise(page_at(t->at, 1), t->pages - 2, MADV_DONTNEED);
	EXPECT(pagemap_present(page_at(t->at, 1), t->pages - 2) == 0,
	       "pages are still mapped");
	expect_zero(page_at(t->at, 1), t->pages - 2);
	expect_ends(t->at, t->pages);
	expect_writable(t->at, t->pages);
}

TRIAL_CASE(zap, child_keeps, plain, 0, ALL_SIZES)
{
	pid_t child = fork_child();

	if (!child) {
		unmap(page_at(t->at, 1), (t->pages - 2) * PAGE_SIZE);
		expect_ends(t->at, t->pages);
		_exit(STATUS_OK);
	}
	wait_child(child, "the child that unmaps");
	child = fork_child();
	if (!child) {
		expect_content(t->at, t->pages, SEED, 0);
		_exit(STATUS_OK);
	}
	unmap(page_at(t->at, 1), (t->pages - 2) * PAGE_SIZE);
	wait_child(child, "the child that reads");
	expect_ends(t->at, t->pages);
}
