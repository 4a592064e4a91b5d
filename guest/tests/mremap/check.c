// SPDX-License-Identifier: GPL-2.0
/* Checks before and after a move. */
#include <stdlib.h>

#include "mremap.h"
#include "proc/proc.h"

/* The pagemap of an absent page that has only a uffd-wp marker. */
static bool is_marker(const struct page_state *page)
{
	/* Markers use one of the last swap types; zram uses the first. */
	return page->swapped && page->uffd_wp && page->swap_type;
}

/* The pagemap that a page must have after its move, from the one before. */
static struct page_state moved_state(struct page_state page, enum wp_rule rule,
				     bool soft_dirty)
{
	if (rule == WP_DROPPED && is_marker(&page))
		return (struct page_state){ 0 };
	if (rule == WP_DROPPED)
		page.uffd_wp = false;
	if (page.present || page.swapped)
		page.soft_dirty = soft_dirty;
	return page;
}

static void expect_same(const struct page_state *now,
			const struct page_state *want, size_t n)
{
	EXPECT(now->present == want->present && now->swapped == want->swapped,
	       "page %zu: present %d swapped %d, expected %d %d", n,
	       now->present, now->swapped, want->present, want->swapped);
	EXPECT(now->pfn == want->pfn, "page %zu: pfn %#llx, expected %#llx", n,
	       (unsigned long long)now->pfn, (unsigned long long)want->pfn);
	EXPECT(now->swap_type == want->swap_type &&
	       now->swap_offset == want->swap_offset,
	       "page %zu: swap entry %llu:%llu, expected %llu:%llu", n,
	       (unsigned long long)now->swap_type,
	       (unsigned long long)now->swap_offset,
	       (unsigned long long)want->swap_type,
	       (unsigned long long)want->swap_offset);
	EXPECT(now->file == want->file && now->exclusive == want->exclusive,
	       "page %zu: file %d exclusive %d, expected %d %d", n, now->file,
	       now->exclusive, want->file, want->exclusive);
	EXPECT(now->uffd_wp == want->uffd_wp,
	       "page %zu: uffd-wp %d, expected %d", n, now->uffd_wp,
	       want->uffd_wp);
	/* For an empty PTE, soft-dirty is that of the VMA. */
	if (now->present || now->swapped)
		EXPECT(now->soft_dirty == want->soft_dirty,
		       "page %zu: soft-dirty %d, expected %d", n,
		       now->soft_dirty, want->soft_dirty);
}

void expect_moved(const struct snapshot *before, const char *addr,
		  enum wp_rule rule)
{
	struct snapshot *now = snapshot(addr, before->pages);
	bool soft_dirty = pagemap_has_soft_dirty();
	struct page_state want;
	size_t n;

	for (n = 0; n < before->pages; n++) {
		want = moved_state(before->page[n], rule, soft_dirty);
		expect_same(&now->page[n], &want, n);
	}
	free(now);
}

void expect_unmoved(const struct snapshot *before, const char *addr)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n;

	for (n = 0; n < before->pages; n++)
		expect_same(&now->page[n], &before->page[n], n);
	free(now);
}

void expect_empty(const char *addr, size_t pages)
{
	struct snapshot *now = snapshot(addr, pages);
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(!now->page[n].present && !now->page[n].swapped,
		       "page %zu of %p should be empty: pagemap has %#llx", n,
		       addr, (unsigned long long)now->page[n].raw);
	free(now);
}

void expect_gone(const char *addr, size_t pages)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(probe_read(addr + n * PAGE_SIZE, &word),
		       "page %zu of %p can still be read", n, addr);
	expect_empty(addr, pages);
}

void move_and_check(char *from, size_t pages, char *to)
{
	struct snapshot *before = snapshot(from, pages);
	unsigned long rss = smaps_kib(from, "Rss");
	unsigned long swap = smaps_kib(from, "Swap");

	move(from, pages, to);
	expect_moved(before, to, WP_KEPT);
	EXPECT_EQ(smaps_kib(to, "Rss"), rss);
	EXPECT_EQ(smaps_kib(to, "Swap"), swap);
	expect_gone(from, pages);
	expect_guards();
	free(before);
}
