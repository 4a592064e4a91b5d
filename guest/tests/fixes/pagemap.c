// SPDX-License-Identifier: GPL-2.0
/* What pagemap says of the pages of a folio that a PMD maps. */
#include <sys/mman.h>

#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "report/die.h"
#include "run/ktap.h"

/* One page of the folio is mapped a second time; only that one is shared. */
static void check_exclusive(size_t twice)
{
	char *at = range_shared(SRC_BASE, PMD_PAGES, PMD_SIZE / KIB), *again;
	size_t n;

	again = mremap(page_at(at, twice), 0, PAGE_SIZE, MREMAP_MAYMOVE);
	if (again == MAP_FAILED)
		die_errno("cannot map a page twice");
	*(volatile char *)again;
	for (n = 0; n < PMD_PAGES; n++)
		EXPECT(pagemap_page(page_at(at, n)).exclusive == (n != twice),
		       "page %zu is %s", n,
		       n == twice ? "mapped twice" : "mapped once");
	EXPECT(!pagemap_page(again).exclusive, "the other mapping is not alone");
	unmap(again, PAGE_SIZE);
	range_drop(at, PMD_PAGES);
}

QUIRE_CASE_TAGGED(fixes, pmd_exclusive_but_first, MENDS) { check_exclusive(0); }
QUIRE_CASE_TAGGED(fixes, pmd_exclusive_but_last, MENDS)
{
	check_exclusive(PMD_PAGES - 1);
}
