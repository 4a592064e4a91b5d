// SPDX-License-Identifier: GPL-2.0
/*
 * The bits of a page-table entry by which user space tracks writes, when KSM
 * puts another page into it.
 */
#include <unistd.h>

#include "kernel/ksm.h"
#include "kernel/wp.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "run/ktap.h"

#define PAGES	2ul

/* Two pages of one range that hold the same. */
static char *twins(void)
{
	char *at = range_filled(SRC_BASE, PAGES, PAGE_KIB);

	pattern_write_page(page_at(at, 1), SEED, 0);
	ksm_mergeable(at, PAGES * PAGE_SIZE);
	return at;
}

/* Each entry keeps its own bit, and gets none from the other. */
static void expect_wp(char *at, const struct mask *mask)
{
	size_t n;

	for (n = 0; n < PAGES; n++)
		EXPECT(pagemap_page(page_at(at, n)).uffd_wp ==
		       masked(mask, n, PAGES * PAGE_SIZE / KIB),
		       "page %zu (protected: %s) has changed", n, mask->name);
}

static void check_wp(const struct mask *mask)
{
	char *at = twins();
	int uffd = wp_protect(at, PAGES, PAGES * PAGE_SIZE / KIB, mask);

	ksm_merge(at, page_at(at, 1));
	expect_wp(at, mask);
	expect_wp_stopped(uffd, at, PAGES, PAGES * PAGE_SIZE / KIB, mask);
	close(uffd);
}

/* A snapshot by write protection must see the writes to both pages. */
QUIRE_CASE_TAGGED(fixes, merge_keeps_wp, FIXES) { check_wp(MASK_ALL); }
QUIRE_CASE_TAGGED(fixes, merge_keeps_wp_of_first, FIXES) { check_wp(MASK_FIRST); }
QUIRE_CASE(fixes, merge_keeps_wp_of_last) { check_wp(MASK_LAST); }
QUIRE_CASE(fixes, merge_adds_no_wp) { check_wp(&mask_none); }

/* A checkpoint that was begun before must include both pages. */
QUIRE_CASE_TAGGED(fixes, merge_keeps_soft_dirty, FIXES)
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
