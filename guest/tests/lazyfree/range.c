// SPDX-License-Identifier: GPL-2.0
/* Lazily freed ranges, and operations on them. */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/env.h"
#include "lazyfree.h"
#include "proc/proc.h"
#include "memory/pattern.h"

void lazy_free(char *addr, size_t pages)
{
	range_advise(addr, pages, MADV_FREE);
	env_drain_lru();
	ASSERT(!lazy_swapbacked(addr, pages),
	       "MADV_FREE left %zu of %zu pages swap-backed",
	       lazy_swapbacked(addr, pages), pages);
}

char *lazy_range(unsigned long kib, bool by_pte)
{
	char *at = range_charged(kib, by_pte);

	lazy_free(at, range_pages(kib));
	return at;
}

const struct ground lazy = { .range = lazy_range };
const struct ground lazy_with_swap = { .start = start_swap, .range = lazy_range };

void lazy_rewrite(char *addr, size_t pages, unsigned long kib,
	     const struct mask *mask)
{
	mask_write(addr, pages, kib, mask, SEED_NEW);
}

void lazy_unfold(char *addr, size_t pages)
{
	size_t n;

	if (!ARCH_BLOCK_STATE)
		return;
	for (n = 0; n < pages; n += BLOCK) {
		range_protect(page_at(addr, n), 1, PROT_READ);
		range_protect(page_at(addr, n), 1, PROT_READ | PROT_WRITE);
	}
}

unsigned long lazy_splits(unsigned long kib)
{
	return kib > PAGE_KIB && kib < PMD_KIB ? mthp_stat(kib, "split") : 0;
}

size_t lazy_swapbacked(const char *addr, size_t pages)
{
	struct snapshot *now = snapshot(addr, pages);
	size_t n, count = 0;

	for (n = 0; n < pages; n++) {
		if (now->page[n].present)
			count += !!(kpage_flags(now->page[n].pfn) &
				    KPF_SWAPBACKED);
	}
	free(now);
	return count;
}

void expect_dropped(const char *addr, size_t pages)
{
	EXPECT_EQ(pagemap_present(addr, pages), 0);
	EXPECT_EQ(pagemap_swapped(addr, pages), 0);
	expect_zero(addr, pages);
}

static bool old_or_zero(const char *page, size_t number)
{
	return pattern_verify_page(page, SEED, number) < 0 ||
	       pattern_verify_zero(page, PAGE_SIZE) < 0;
}

void expect_old_or_zero(const char *addr, size_t pages, size_t first)
{
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(old_or_zero(addr + n * PAGE_SIZE, first + n),
		       "page %zu of %p holds neither its old data nor zeros",
		       n, addr);
}

void expect_survivors(const char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib))
			expect_old_or_zero(addr + n * PAGE_SIZE, 1, n);
		else
			EXPECT(pattern_verify_page(addr + n * PAGE_SIZE,
						   SEED_NEW, n) < 0,
			       "page %zu (rewritten: %s) lost what was written",
			       n, mask->name);
	}
}

void expect_entries_or_dropped(const struct snapshot *before, const char *addr,
			    unsigned long kib, const struct mask *mask)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n;

	for (n = 0; n < before->pages; n++) {
		if (!masked(mask, n, kib) && !now->page[n].present &&
		    !now->page[n].swapped)
			continue;
		EXPECT(now->page[n].raw == before->page[n].raw,
		       "page %zu (rewritten: %s): pagemap has %#llx, before %#llx",
		       n, mask->name, (unsigned long long)now->page[n].raw,
		       (unsigned long long)before->page[n].raw);
	}
	free(now);
}
