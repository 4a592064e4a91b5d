// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim must keep mlock()ed pages, lazily freed or not, also when only part
 * of a folio is locked. MLOCK_ONFAULT, because plain mlock() writes to the
 * pages.
 */
#include <sys/mman.h>

#include "lazyfree.h"
#include "proc/proc.h"

/* The other pages may be dropped, or kept if the folio is kept as a whole. */
static void check_locked(unsigned long kib, bool by_pte,
			 const struct mask *mask)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);

	mask_mlock(at, pages, kib, mask);
	reclaim(at, pages, BY_MEMCG);
	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib))
			continue;
		EXPECT(pagemap_page(page_at(at, n)).present,
		       "page %zu (locked: %s) was reclaimed", n, mask->name);
		expect_content(page_at(at, n), 1, SEED, n);
	}
	expect_old_or_zero(at, pages, 0);
	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock");
	reclaim(at, pages, BY_MEMCG);
	expect_old_or_zero(at, pages, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	EXPECT_EQ(status_kib("VmLck"), 0);
}

QUIRE_CASE_SIZES(lazyfree, mlocked_kept, ALL_SIZES)
{
	for_each_mask(mask)
		check_locked(kib, true, mask);
	check_locked(kib, false, MASK_ALL);
}
