// SPDX-License-Identifier: GPL-2.0
/* MADV_COLLAPSE of a range of large folios. */
#include <stdbool.h>
#include <sys/mman.h>

#include "base/uapi.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "run/ktap.h"

/* Some pages of each folio have been replaced by a folio of their own. */
static void replace_within(char *at, unsigned long kib)
{
	size_t i, n, part = folio_pages(kib) / 4;

	for (n = part; n < PMD_PAGES; n += folio_pages(kib))
		range_advise(page_at(at, n), part, MADV_DONTNEED);
	folio_want(kib / 4);
	for (n = part; n < PMD_PAGES; n += folio_pages(kib)) {
		for (i = n; i < n + part; i++)
			pattern_write_page(page_at(at, i), SEED, i);
	}
	folio_want(PAGE_KIB);
}

static void check_collapse(unsigned long kib, bool replaced)
{
	char *at;

	/* A huge page must be free beside the range. */
	must_fit(2 * PMD_SIZE);
	at = range_filled(SRC_BASE, PMD_PAGES, kib);
	if (replaced)
		replace_within(at, kib);
	EXPECT(!madvise(at, PMD_SIZE, MADV_COLLAPSE), "MADV_COLLAPSE: %m");
	range_assert_pmds(at, PMD_PAGES);
	expect_content(at, PMD_PAGES, SEED, 0);
	range_drop(at, PMD_PAGES);
}

QUIRE_CASE_SIZES_CALL(collapse, folios, check_collapse(kib, false), 4, 16, 64, 256, 1024)

/* A folio is met again behind another one. */
QUIRE_CASE_SIZES_CALL(collapse, folio_within_folio, check_collapse(kib, true), 64, 256, 1024)
