// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that KSM merged, in a range that moves: none may change, unmerged or
 * not.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "proc/knob.h"

#define KSM	"/sys/kernel/mm/ksm"
#define WAIT_MS	6000u

/* In each block, pages 1 and 2 become copies of page 0. */
static size_t twin_of(size_t page)
{
	return page % BLOCK < 3 ? page - page % BLOCK : page;
}

static size_t merged_pages(const char *addr, size_t pages)
{
	struct snapshot *now = snapshot(addr, pages);
	size_t n, merged = 0;

	for (n = 0; n < pages; n++)
		merged += now->page[n].present && twin_of(n) != n &&
			  now->page[n].pfn == now->page[twin_of(n)].pfn;
	free(now);
	return merged;
}

static void merge_twins(char *addr, size_t pages)
{
	unsigned int waited;
	size_t n;

	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(addr, n), SEED, twin_of(n));
	if (madvise(addr, pages * PAGE_SIZE, MADV_MERGEABLE))
		die_errno("MADV_MERGEABLE");
	write_file(KSM "/pages_to_scan", "4000");
	write_file(KSM "/sleep_millisecs", "1");
	write_file(KSM "/run", "1");
	for (waited = 0; waited < WAIT_MS; waited += 20) {
		if (merged_pages(addr, pages) == pages / BLOCK * 2)
			break;
		sleep_ms(20);
	}
	write_file(KSM "/run", "0");
	EXPECT_EQ(merged_pages(addr, pages), pages / BLOCK * 2);
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
	expect_guards();
}
