// SPDX-License-Identifier: GPL-2.0
/*
 * mlock()ed pages are not reclaimed, lazily freed or not: also where only a
 * part of a folio is locked. MLOCK_ONFAULT, because mlock() itself writes.
 */
#include <sys/mman.h>

#include "folio.h"
#include "lazyfree.h"
#include "proc.h"

static void lock_masked(char *addr, size_t pages, unsigned long kib,
			const struct mask *mask)
{
	size_t n, run;

	for (n = 0; n < pages; n += run + 1) {
		for (run = 0; n + run < pages && masked(mask, n + run, kib);
		     run++)
			;
		if (run && mlock2(page_at(addr, n), run * PAGE_SIZE,
				  MLOCK_ONFAULT))
			die_errno("mlock2 of page %zu", n);
	}
}

/* The others may be dropped, or not, if their folio is kept as a whole. */
static void check_locked(unsigned long kib, bool by_pte,
			 const struct mask *mask)
{
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);

	lock_masked(at, pages, kib, mask);
	lazy_reclaim(at, pages, BY_MEMCG);
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
	lazy_reclaim(at, pages, BY_MEMCG);
	expect_old_or_zero(at, pages, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	EXPECT_EQ(status_kib("VmLck"), 0);
}

QUIRE_CASE_SIZES(lazyfree, mlocked_kept, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < NR_MASKS; i++)
		check_locked(kib, true, &lazy_masks[i]);
	check_locked(kib, false, MASK_ALL);
}
