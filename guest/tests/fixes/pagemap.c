// SPDX-License-Identifier: GPL-2.0
/* What pagemap says of the pages of a folio that a PMD maps. */
#include <sys/mman.h>

#include "memory/range.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/ktap.h"

static void expect_mapped_once(const struct page_state *page, size_t n,
			       bool once)
{
	EXPECT(page->present, "page %zu is not mapped", n);
	EXPECT(page->exclusive == once, "page %zu counts as mapped %s", n,
	       once ? "more than once" : "once");
}

static void require_pmd(const char *at)
{
	if (smaps_kib(at, "ShmemPmdMapped") != PMD_SIZE / KIB)
		die("the folio at %p is not mapped by a PMD", at);
}

/* One page of the folio is mapped a second time; only that one is shared. */
static void check_exclusive(size_t twice)
{
	static struct page_state pages[MOST_PMD_PAGES];
	struct page_state one;
	char *at, *again;
	size_t n;

	must_fit(2 * PMD_SIZE);
	at = range_shared(SRC_BASE, PMD_PAGES, PMD_SIZE / KIB);
	require_pmd(at);
	again = mremap(page_at(at, twice), 0, PAGE_SIZE, MREMAP_MAYMOVE);
	if (again == MAP_FAILED)
		die_errno("cannot map a page twice");
	*(volatile char *)again;
	require_pmd(at);

	/* All in one read, and each by itself. */
	pagemap_read(at, PMD_PAGES, pages);
	for (n = 0; n < PMD_PAGES; n++) {
		expect_mapped_once(&pages[n], n, n != twice);
		one = pagemap_page(page_at(at, n));
		expect_mapped_once(&one, n, n != twice);
	}
	one = pagemap_page(again);
	expect_mapped_once(&one, twice, false);
	unmap(again, PAGE_SIZE);
	range_drop(at, PMD_PAGES);
}

QUIRE_CASE_TAGGED(fixes, pmd_exclusive_but_first, FIXES) { check_exclusive(0); }
QUIRE_CASE_CALL_TAGGED(fixes, pmd_exclusive_but_middle, FIXES, check_exclusive(PMD_PAGES / 2))
QUIRE_CASE_CALL_TAGGED(fixes, pmd_exclusive_but_last, FIXES, check_exclusive(PMD_PAGES - 1))
