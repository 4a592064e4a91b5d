// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that KSM merged, in a range that moves: none may change, unmerged or
 * not.
 */
#include "kernel/ksm.h"
#include "memory/pattern.h"
#include "mremap.h"

/* In each block, pages 1 and 2 become copies of page 0. */
static size_t twin_of(size_t page)
{
	return page % BLOCK < 3 ? page - page % BLOCK : page;
}

static void merge_twins(char *addr, size_t pages)
{
	size_t n;

	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(addr, n), SEED, twin_of(n));
	ksm_mergeable(addr, pages * PAGE_SIZE);
	for (n = 0; n < pages; n++) {
		if (twin_of(n) != n)
			ksm_merge(page_at(addr, twin_of(n)), page_at(addr, n));
	}
}

QUIRE_CASE_SIZES(mremap, ksm_pages, 4, 16, 64, 256)
{
	size_t n, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, BLOCK), pages);

	merge_twins(from, pages);
	move(from, pages, to);
	expect_gone(from, pages);
	EXPECT_EQ(pagemap_present(to, pages), pages);
	for (n = 0; n < pages; n++)
		expect_content(page_at(to, n), 1, SEED, twin_of(n));
	/* A write to one of the equal pages must not show in the others. */
	for (n = 1; n < pages; n += BLOCK)
		pattern_write_page(page_at(to, n), SEED_NEW, n);
	for (n = 0; n < pages; n++) {
		if (n % BLOCK == 1)
			expect_content(page_at(to, n), 1, SEED_NEW, n);
		else
			expect_content(page_at(to, n), 1, SEED, twin_of(n));
	}
	expect_writable(to, pages);
}
