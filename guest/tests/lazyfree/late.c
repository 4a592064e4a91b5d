// SPDX-License-Identifier: GPL-2.0
/*
 * A write between the moment when the kernel finds that a run of pages is clean and
 * the one when it clears their entries: hardware sets the dirty bit, and nothing may
 * drop the page. On a kernel with seeded bugs, a parameter makes it happen.
 */
#include <unistd.h>

#include "lazyfree.h"
#include "proc/knob.h"
#include "tests/migrate/migrate.h"

/* The frame of the page that is written to. */
#define WRITTEN_LATE "/sys/module/rmap/parameters/quire_written_late"

/*
 * All bits of the first word are inverted. The other pages do not become soft-dirty
 * when their entries are put back.
 */
static void check_late(unsigned long kib, size_t page, bool migrates)
{
	size_t pages = range_pages(kib);
	char *at = range_charged(kib, true);
	uint64_t *word = (void *)page_at(at, page), before = *word;
	size_t n;

	lazy_free(at, pages);
	if (pagemap_has_soft_dirty())
		pagemap_clear_soft_dirty();
	write_file(WRITTEN_LATE, "%llu",
		   (unsigned long long)pagemap_page(page_at(at, page)).pfn);
	if (migrates) {
		migrate(at, pages);
		EXPECT_EQ(read_number(WRITTEN_LATE), 0);
	}
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(read_number(WRITTEN_LATE), 0);
	EXPECT(*word == ~before, "what was written to page %zu is lost", page);
	for (n = 0; n < pages; n++)
		EXPECT(n == page || !pagemap_page(page_at(at, n)).soft_dirty,
		       "page %zu is soft-dirty", n);
	expect_old_or_zero(at, page, 0);
	expect_old_or_zero(page_at(at, page + 1), pages - page - 1, page + 1);
	range_drop(at, pages);
}

static void each_page(unsigned long kib, bool migrates)
{
	size_t nr = folio_pages(kib);
	const size_t page[] = { 0, nr / 2, 2 * nr - 1 };
	size_t i;

	if (access(WRITTEN_LATE, F_OK))
		SKIP("this kernel has no writes that come late");
	for (i = 0; i < ARRAY_SIZE(page); i++)
		check_late(kib, page[i], migrates);
}

QUIRE_CASE_SIZES_CALL(lazyfree, written_late_kept, each_page(kib, false), LARGE_SIZES)

/*
 * The last page of each folio was rewritten, and another is written to after the
 * kernel has looked at the entries: the folio stays, with both.
 */
static void check_late_of_rewritten(unsigned long kib, size_t page)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, true);
	uint64_t *word = (void *)page_at(at, page), before = *word;

	lazy_unfold(at, pages);
	lazy_rewrite(at, pages, kib, MASK_LAST);
	write_file(WRITTEN_LATE, "%llu",
		   (unsigned long long)pagemap_page(page_at(at, page)).pfn);
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(read_number(WRITTEN_LATE), 0);
	EXPECT(*word == ~before, "what was written to page %zu is lost", page);
	for (n = 0; n < pages; n++) {
		if (masked(MASK_LAST, n, kib))
			expect_content(page_at(at, n), 1, SEED_NEW, n);
		else if (n != page)
			expect_old_or_zero(page_at(at, n), 1, n);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, rewritten_late_kept, LARGE_SIZES)
{
	size_t nr = folio_pages(kib);

	if (access(WRITTEN_LATE, F_OK))
		SKIP("this kernel has no writes that come late");
	check_late_of_rewritten(kib, 0);
	check_late_of_rewritten(kib, nr / 2);
	check_late_of_rewritten(kib, 2 * nr - 2);
}

QUIRE_CASE_SIZES(migrate, written_late_kept, LARGE_SIZES)
{
	needs_nodes();
	each_page(kib, true);
}
