// SPDX-License-Identifier: GPL-2.0
/* Ranges of folios for swap, and checks of them in swap and afterwards. */
#include <stdlib.h>

#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "proc/proc.h"
#include "swapout.h"

void swapout_start(unsigned long mib)
{
	memcg_enter();
	reclaim_nothing_else();
	swap_on(mib);
}

void swapout_end(void)
{
	/*
	 * A folio that was busy when it was dropped is still in the swap cache.
	 */
	memcg_reclaim();
	swap_settle();
	EXPECT_EQ(swap_used_kib(), 0);
	EXPECT_EQ(memcg_swap_kib(), 0);
	EXPECT(counters_fold(),
	       "a counter of /proc/vmstat is negative");
	EXPECT_EQ(meminfo_kib("SwapCached"), 0);
	swap_off();
}

char *swapout_range(unsigned long kib, bool by_pte)
{
	char *at = range_charged(kib, by_pte);

	range_unlock(at, range_pages(kib));
	return at;
}

void start_swapping(void)
{
	swapout_start(SWAP_MIB);
}

const struct ground swapping = {
	.start = start_swapping, .end = swapout_end, .range = swapout_range,
};

/* The bits that an entry keeps through swap. */
static bool same_bits(const struct page_state *a, const struct page_state *b)
{
	return a->soft_dirty == b->soft_dirty && a->uffd_wp == b->uffd_wp &&
	       a->file == b->file;
}

static void expect_bits(const struct page_state *before,
			const struct page_state *now, size_t n)
{
	EXPECT(same_bits(before, now),
	       "page %zu: soft-dirty %d uffd-wp %d, before %d %d", n,
	       now->soft_dirty, now->uffd_wp, before->soft_dirty,
	       before->uffd_wp);
}

/* When a folio is split, its pages of zeroes become the zero page. */
static bool became_zero_page(const struct page_state *page, unsigned long kib)
{
	return page->present && swap_splits(kib) &&
	       (kpage_flags(page->pfn) & KPF_ZERO_PAGE);
}

void expect_in_swap(const struct snapshot *before, const char *addr,
		    unsigned long kib)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n, nr = swap_splits(kib) ? 1 : folio_pages(kib);

	for (n = 0; n < before->pages; n++) {
		const struct page_state *page = &now->page[n];
		uint64_t first = now->page[n - n % nr].swap_offset;

		if (became_zero_page(page, kib))
			continue;
		EXPECT(page->swapped && !page->present,
		       "page %zu is not in swap: %#llx", n,
		       (unsigned long long)page->raw);
		EXPECT(!page->swap_type && first % nr == 0 &&
		       page->swap_offset == first + n % nr,
		       "page %zu is in slot %llu:%llu, expected %llu", n,
		       (unsigned long long)page->swap_type,
		       (unsigned long long)page->swap_offset,
		       (unsigned long long)first + n % nr);
		expect_bits(&before->page[n], page, n);
	}
	free(now);
}

void expect_kept(const struct snapshot *before, const char *addr,
		 unsigned long kib, const struct mask *kept)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n;

	for (n = 0; n < before->pages; n++) {
		const struct page_state *page = &now->page[n];

		if (!masked(kept, n, kib) && page->swapped && !page->swap_type)
			expect_bits(&before->page[n], page, n);
		else
			/*
			 * It may be exclusive now, since the others have it in
			 * swap.
			 */
			EXPECT(!((page->raw ^ before->page[n].raw) & ~PAGEMAP_EXCLUSIVE),
			       "page %zu: pagemap has %#llx, before %#llx", n,
			       (unsigned long long)page->raw,
			       (unsigned long long)before->page[n].raw);
	}
	free(now);
}

/* The last page first: of a folio, a fault on its first page maps all. */
static void read_all(const char *addr, size_t pages)
{
	size_t n;

	for (n = pages; n--; )
		(void)*(const volatile char *)(addr + n * PAGE_SIZE);
}

void expect_back(const struct snapshot *before, const char *addr)
{
	struct snapshot *now;
	size_t n;

	read_all(addr, before->pages);
	now = snapshot(addr, before->pages);
	for (n = 0; n < before->pages; n++) {
		EXPECT(now->page[n].present, "page %zu is not present: %#llx",
		       n, (unsigned long long)now->page[n].raw);
		expect_bits(&before->page[n], &now->page[n], n);
	}
	free(now);
}
