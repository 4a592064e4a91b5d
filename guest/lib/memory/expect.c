// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "kernel/nodes.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "process/cpu.h"

struct snapshot *snapshot(const char *addr, size_t pages)
{
	struct snapshot *now = allocate(1, sizeof(*now) +
					pages * sizeof(now->page[0]));

	now->pages = pages;
	pagemap_read(addr, pages, now->page);
	return now;
}

void soft_dirty_where(char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask)
{
	pagemap_clear_soft_dirty();
	mask_write(addr, pages, kib, mask, SEED);
}

size_t snapshot_moved(const struct snapshot *before, const char *addr,
		      unsigned long kib, const struct mask *mask)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n, count = 0;

	for (n = 0; n < before->pages; n++)
		count += masked(mask, n, kib) &&
			 now->page[n].pfn != before->page[n].pfn;
	free(now);
	return count;
}

void needs_soft_dirty(void)
{
	if (!pagemap_has_soft_dirty())
		SKIP("this kernel has no soft-dirty tracking");
}

void needs_other_cpu(void)
{
	if (cpu_count() < 2)
		SKIP("this machine has one CPU");
}

void needs_nodes(void)
{
	if (!nodes_two())
		SKIP("this machine has one memory node");
}

/* The pagemap of an absent page that has only a uffd-wp marker. */
static bool is_marker(const struct page_state *page)
{
	/* Markers use one of the last swap types; zram uses the first. */
	return page->swapped && page->uffd_wp && page->swap_type;
}

/* The pagemap that a page must have, from the one before. */
static uint64_t changed(const struct page_state *page, unsigned int changes)
{
	uint64_t raw = page->raw;

	if (changes & WP_DROPPED)
		raw = is_marker(page) ? 0 : raw & ~PAGEMAP_UFFD_WP;
	if (changes & SOFT_DIRTY_SET && pagemap_has_soft_dirty())
		raw |= PAGEMAP_SOFT_DIRTY;
	return raw;
}

void expect_changed(const struct snapshot *before, const char *addr,
		    unsigned int changes)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n;

	for (n = 0; n < before->pages; n++) {
		const struct page_state *was = &before->page[n];
		const struct page_state *is = &now->page[n];
		uint64_t same = ~0ull, want = changed(was, changes);

		if (!is->present && !is->swapped)
			same &= ~PAGEMAP_SOFT_DIRTY;
		if (changes & MAPPED_AGAIN)
			same &= ~PAGEMAP_EXCLUSIVE;
		if (changes & NEW_FRAMES && was->present)
			same &= ~PAGEMAP_FRAME;
		EXPECT(!((is->raw ^ want) & same),
		       "page %zu: pagemap has %#llx, expected %#llx", n,
		       (unsigned long long)is->raw, (unsigned long long)want);
		EXPECT(!(changes & NEW_FRAMES) || !was->present ||
		       is->pfn != was->pfn, "page %zu has its old frame", n);
	}
	free(now);
}

void expect_entries(const struct snapshot *before, const char *addr)
{
	expect_changed(before, addr, 0);
}

void expect_content(const char *addr, size_t pages, uint64_t seed, size_t first)
{
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(pattern_verify_page(addr + n * PAGE_SIZE, seed,
					   first + n) < 0,
		       "page %zu of %p does not hold page %zu of seed %#llx",
		       n, addr, first + n, (unsigned long long)seed);
}

void expect_masked(const char *addr, size_t pages, unsigned long kib,
		   const struct mask *mask, uint64_t seed)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			expect_content(addr + n * PAGE_SIZE, 1, seed, n);
	}
}

void expect_zero(const char *addr, size_t pages)
{
	long wrong = pattern_verify_zero(addr, pages * PAGE_SIZE);

	EXPECT(wrong < 0, "page %ld of %p is not zero", wrong, addr);
}

void expect_writable(char *addr, size_t pages)
{
	pattern_write(addr, pages * PAGE_SIZE, SEED_NEW);
	expect_content(addr, pages, SEED_NEW, 0);
}

void expect_read_only(char *addr, size_t pages)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < pages; n++) {
		EXPECT(!probe_read(page_at(addr, n), &word),
		       "page %zu of %p cannot be read", n, addr);
		EXPECT(probe_write(page_at(addr, n), 1),
		       "page %zu of %p can be written", n, addr);
	}
}
