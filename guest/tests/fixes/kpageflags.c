// SPDX-License-Identifier: GPL-2.0
/* What kpageflags says of pages that KSM merged, and of others. */
#include <string.h>

#include "kernel/ksm.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "run/ktap.h"

static bool is_ksm(const void *addr)
{
	struct page_state page = pagemap_page(addr);
	uint64_t flags;

	ASSERT(page.present, "the page is not mapped");
	flags = kpage_flags(page.pfn);
	EXPECT(flags & KPF_ANON, "the page does not count as anonymous");
	return flags & KPF_KSM;
}

QUIRE_CASE_SIZES_TAGGED(fixes, folio_not_ksm, FIXES, ALL_SIZES)
{
	size_t n, nr = folio_pages(kib);
	char *at = range_filled(SRC_BASE, nr, kib);

	for (n = 0; n < nr; n++)
		EXPECT(!is_ksm(page_at(at, n)), "page %zu counts as merged", n);
}

QUIRE_CASE(fixes, merged_is_ksm)
{
	char *at = range_filled(SRC_BASE, 2, PAGE_KIB);

	memset(at, 'q', 2 * PAGE_SIZE);
	ksm_mergeable(at, 2 * PAGE_SIZE);
	ksm_merge(at, page_at(at, 1));
	/* The wait for ksmd has looked at the bit, too, and dies without it. */
	EXPECT(is_ksm(at) && is_ksm(page_at(at, 1)),
	       "a merged page does not count as merged");
}
