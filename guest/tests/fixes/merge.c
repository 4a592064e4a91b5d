// SPDX-License-Identifier: GPL-2.0
/*
 * The bits of a page-table entry by which user space tracks writes, when KSM
 * puts another page into it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/ksm.h"
#include "kernel/wp.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "report/die.h"
#include "run/ktap.h"

#define PAGES	2ul

/* Two pages of one range that hold the same. */
static char *twins(void)
{
	char *at = range_filled(SRC_BASE, PAGES, 4);

	pattern_write_page(page_at(at, 1), SEED, 0);
	ksm_mergeable(at, PAGES * PAGE_SIZE);
	return at;
}

/* A snapshot by write protection must see the writes to both pages. */
QUIRE_CASE_TAGGED(fixes, merge_keeps_wp, MENDS)
{
	char *at = twins();
	int uffd = wp_protect(at, PAGES, 4, MASK_ALL);

	ksm_merge(at, page_at(at, 1));
	EXPECT(pagemap_page(at).uffd_wp, "page 0 is not protected any more");
	EXPECT(pagemap_page(page_at(at, 1)).uffd_wp,
	       "page 1 is not protected any more");
	expect_wp_stopped(uffd, at, PAGES, 4, MASK_ALL);
	close(uffd);
}

/* A checkpoint that was begun before must include both pages. */
QUIRE_CASE_TAGGED(fixes, merge_keeps_soft_dirty, MENDS)
{
	char *at;

	needs_soft_dirty();
	at = twins();
	pagemap_clear_soft_dirty();
	pattern_write_page(at, SEED, 0);
	pattern_write_page(page_at(at, 1), SEED, 0);
	ksm_merge(at, page_at(at, 1));
	EXPECT(pagemap_page(at).soft_dirty, "page 0 is not soft-dirty any more");
	EXPECT(pagemap_page(page_at(at, 1)).soft_dirty,
	       "page 1 is not soft-dirty any more");
}

/* And pages that nobody wrote to stay as they are. */
QUIRE_CASE(fixes, merge_adds_no_soft_dirty)
{
	char *at;

	needs_soft_dirty();
	at = twins();
	pagemap_clear_soft_dirty();
	ksm_merge(at, page_at(at, 1));
	EXPECT(!pagemap_page(at).soft_dirty, "page 0 became soft-dirty");
	EXPECT(!pagemap_page(page_at(at, 1)).soft_dirty,
	       "page 1 became soft-dirty");
}
