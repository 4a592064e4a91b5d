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
	struct snapshot *now;

	now = malloc(sizeof(*now) + pages * sizeof(now->page[0]));
	if (!now)
		die("no memory for the pagemap of %zu pages", pages);
	now->pages = pages;
	pagemap_read(addr, pages, now->page);
	return now;
}

void soft_dirty_where(char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask)
{
	size_t n;

	pagemap_clear_soft_dirty();
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			pattern_write_page(page_at(addr, n), SEED, n);
	}
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

void expect_entries(const struct snapshot *before, const char *addr)
{
	struct snapshot *now = snapshot(addr, before->pages);
	size_t n;

	for (n = 0; n < before->pages; n++)
		EXPECT(now->page[n].raw == before->page[n].raw,
		       "page %zu: pagemap has %#llx, before %#llx", n,
		       (unsigned long long)now->page[n].raw,
		       (unsigned long long)before->page[n].raw);
	free(now);
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
