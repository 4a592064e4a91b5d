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
TRIAL_CASE(lazyfree, mlocked_kept, lazy, MASKS | MAPPINGS, ALL_SIZES)
{
	size_t n;

	mask_mlock(t->at, t->pages, t->kib, t->mask);
	reclaim(t->at, t->pages, BY_MEMCG);
	for (n = 0; n < t->pages; n++) {
		if (!masked(t->mask, n, t->kib))
			continue;
		EXPECT(pagemap_page(page_at(t->at, n)).present,
		       "page %zu (locked: %s) was reclaimed", n, t->mask->name);
		expect_content(page_at(t->at, n), 1, SEED, n);
	}
	expect_old_or_zero(t->at, t->pages, 0);
	range_unlock(t->at, t->pages);
	reclaim(t->at, t->pages, BY_MEMCG);
	expect_old_or_zero(t->at, t->pages, 0);
	expect_writable(t->at, t->pages);
	EXPECT_EQ(status_kib("VmLck"), 0);
}
