// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of a memory cgroup takes folios that were not accessed, and keeps
 * those that were: by whichever page, in whichever mapping.
 */
#include <sys/mman.h>

#include "aging.h"
#include "kernel/env.h"
#include "kernel/lru_gen.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "proc/pagemap.h"

#define MANY_PAGES	2048ul

/* Enough folios that reclaim meets each of them before it has what it wants. */
static size_t aging_pages(unsigned long kib)
{
	size_t pages = 16 * range_pages(kib), folio = folio_pages(kib);
	size_t most = 4 * folio > MANY_PAGES ? 4 * folio : MANY_PAGES;

	return pages < most ? pages : most;
}

static char *aging_range(unsigned long kib, size_t pages)
{
	char *at;

	swap_on(SWAP_FOR_TESTS);
	memcg_enter();
	at = range_filled(SRC_BASE, pages, kib);
	env_drain_lru();
	return at;
}

/* How memory is reclaimed, and how much of it. */
struct demand {
	void (*reclaim_kib)(unsigned long kib);
	unsigned int divisor;
};

static const struct demand request = { memcg_reclaim_kib, 2 };
/* Less: to come below a limit, the kernel tries again, and harder. */
static const struct demand limit = { memcg_limit_kib, 4 };

/*
 * Every second folio is accessed, by the pages in the mask, and a part of the
 * memory is reclaimed. A generation that starts before makes the others old.
 */
static void check_accessed(unsigned long kib, bool mglru,
			   const struct demand *demand, const struct mask *mask)
{
	size_t n, nr = folio_pages(kib), pages = aging_pages(kib), taken = 0;
	char *at = aging_range(kib, pages);

	if (mglru)
		lru_gen_age();
	age_range(at, pages);
	for (n = 0; n < pages; n += 2 * nr)
		access_pages(page_at(at, n), nr, kib, mask);
	demand->reclaim_kib(pages / demand->divisor * PAGE_SIZE / KIB);
	for (n = 0; n < pages; n += 2 * nr)
		taken += pagemap_swapped(page_at(at, n), nr);
	EXPECT(taken <= pages / 16,
	       "%zu of %zu pages of accessed folios (%s) were reclaimed", taken,
	       pages / 2, mask->name);
	EXPECT(pagemap_swapped(at, pages) >= pages / demand->divisor / 2,
	       "only %zu of %zu pages were reclaimed",
	       pagemap_swapped(at, pages), pages / demand->divisor);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
	swap_off();
}

QUIRE_CASE_SIZES(aging, accessed_stays, ALL_SIZES)
{
	lru_gen_enable(false);
	for_each_mask(mask)
		check_accessed(kib, false, &request, mask);
}

QUIRE_CASE_SIZES(aging, accessed_stays_mglru, ALL_SIZES)
{
	lru_gen_enable(true);
	for_each_mask(mask)
		check_accessed(kib, true, &request, mask);
}

/* A limit asks for the same. */
QUIRE_CASE_SIZES(aging, accessed_stays_limit, ALL_SIZES)
{
	lru_gen_enable(false);
	check_accessed(kib, false, &limit, MASK_LAST);
	check_accessed(kib, false, &limit, MASK_ALL);
}

QUIRE_CASE_SIZES(aging, accessed_stays_limit_mglru, ALL_SIZES)
{
	lru_gen_enable(true);
	check_accessed(kib, true, &limit, MASK_LAST);
	check_accessed(kib, true, &limit, MASK_ALL);
}

/*
 * On the classic lists, folios become active when reclaim finds again that they were
 * accessed, and inactive when it finds nothing else.
 */
QUIRE_CASE_SIZES(aging, active_then_reclaimed, ALL_SIZES)
{
	size_t pages = aging_pages(kib), i;
	unsigned long active;
	char *at;

	lru_gen_enable(false);
	at = aging_range(kib, pages);
	for (i = 0; i < 4; i++) {
		flush_range(at, pages);
		access_pages(at, pages, kib, MASK_ALL);
		memcg_reclaim_kib(BLOCK_KIB);
	}
	age_range(at, pages);
	/* Reclaim compares the lists by counters that a look at them brings up to date. */
	active = memcg_stat("active_anon") / PAGE_SIZE + memcg_stat("pgdeactivate");
	EXPECT(active >= pages / 2, "only %lu of %zu pages were active", active,
	       pages);
	memcg_reclaim();
	EXPECT(pagemap_swapped(at, pages) >= pages / 2,
	       "only %zu of %zu pages were reclaimed",
	       pagemap_swapped(at, pages), pages);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
	swap_off();
}

/*
 * The walk of the page tables meets vmas that begin and end inside of folios.
 * Only the part in the second vma was accessed.
 */
QUIRE_CASE_SIZES(aging, two_vmas_walked, LARGE_SIZES)
{
	size_t i, n, nr = folio_pages(kib), pages = aging_pages(kib);
	const size_t cut[] = { 1, nr / 2, nr - 1 };

	lru_gen_enable(true);
	for (i = 0; i < ARRAY_SIZE(cut); i++) {
		char *at = aging_range(kib, pages);

		for (n = 0; n < pages; n += 2 * nr)
			range_advise(page_at(at, n), cut[i], MADV_DONTFORK);
		lru_gen_age();
		age_range(at, pages);
		for (n = 0; n < pages; n += 2 * nr)
			*(volatile char *)page_at(at, n + nr - 1);
		lru_gen_age();
		memcg_reclaim_kib(pages / 4 * PAGE_SIZE / KIB);
		for (n = 0; n < pages; n += 2 * nr)
			EXPECT(!pagemap_swapped(page_at(at, n), nr),
			       "folio %zu was reclaimed", n / nr);
		expect_content(at, pages, SEED, 0);
		range_drop(at, pages);
		swap_off();
	}
}

/* Reclaim finds that such a folio is locked, and takes it off its lists. */
QUIRE_CASE_SIZES(aging, locked_in_parts, LARGE_SIZES)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);
	char *at = aging_range(kib, pages);

	range_split_pmds(at, pages);
	/* No call sees a whole folio. */
	mask_mlock(at, pages, kib, MASK_LOW_HALF);
	mask_mlock(at, pages, kib, MASK_HIGH_HALF);
	age_range(at, pages);
	memcg_reclaim();
	memcg_reclaim();
	EXPECT_EQ(pagemap_swapped(at, pages), 0);
	for (n = 0; n < pages; n += nr)
		EXPECT(kpage_flags(pagemap_page(page_at(at, n)).pfn) &
		       KPF_UNEVICTABLE, "folio %zu is evictable", n / nr);
	expect_content(at, pages, SEED, 0);
}
