// SPDX-License-Identifier: GPL-2.0
/*
 * Lazily freed folios that were rewritten in part, where their clean pages are
 * dropped and something stands in the way of the rest: no swap, or too little; a
 * split that fails; mlock(); a device that has a page alone; accessed bits that
 * the multi-gen LRU takes; memory that is emptied for a huge page.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/dmirror.h"
#include "kernel/env.h"
#include "kernel/lru_gen.h"
#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "process/map.h"

/* On a kernel with seeded bugs: folios of which pages were dropped stay large. */
#define SPLIT_FAILS	"/sys/module/vmscan/parameters/quire_split_fails"
#define GIGANTIC	"/sys/kernel/mm/hugepages/hugepages-32768kB/nr_hugepages"

static char *rewritten_range(unsigned long kib, const struct mask *mask)
{
	char *at = lazy_range(kib, true);

	lazy_unfold(at, range_pages(kib));
	lazy_rewrite(at, range_pages(kib), kib, mask);
	return at;
}

/* Without swap, what was written to stays, and only the rest is dropped. */
QUIRE_CASE_SIZES(lazyfree, rewritten_without_swap, LARGE_SIZES)
{
	size_t n, pages = range_pages(kib);
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		for_each_mask(mask) {
			char *at = rewritten_range(kib, mask);

			reclaim(at, pages, how);
			reclaim(at, pages, how);
			EXPECT_EQ(pagemap_swapped(at, pages), 0);
			for (n = 0; n < pages; n++) {
				if (masked(mask, n, kib))
					EXPECT(pagemap_page(page_at(at, n)).present,
					       "page %zu is gone", n);
			}
			expect_survivors(at, pages, kib, mask);
			range_drop(at, pages);
		}
	}
}

/* Swap takes only a part of what was written. */
QUIRE_CASE_SIZES(lazyfree, rewritten_little_swap, LARGE_SIZES)
{
	size_t pages = range_pages(kib);

	swap_on(1);
	for_each_mask(mask) {
		char *at = rewritten_range(kib, mask);

		reclaim(at, pages, BY_PAGEOUT);
		reclaim(at, pages, BY_PAGEOUT);
		reclaim(at, pages, BY_MEMCG);
		expect_survivors(at, pages, kib, mask);
		range_drop(at, pages);
	}
}

/* The clean pages are free, and the rest waits for a split. */
QUIRE_CASE_SIZES(lazyfree, rewritten_split_fails, LARGE_SIZES)
{
	size_t n, pages = range_pages(kib);

	if (access(SPLIT_FAILS, F_OK))
		SKIP("this kernel has no splits that fail");
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		char *at = rewritten_range(kib, mask);

		write_file(SPLIT_FAILS, "1");
		reclaim(at, pages, BY_PAGEOUT);
		reclaim(at, pages, BY_MEMCG);
		write_file(SPLIT_FAILS, "0");
		expect_survivors(at, pages, kib, mask);
		reclaim(at, pages, BY_PAGEOUT);
		reclaim(at, pages, BY_PAGEOUT);
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, kib))
				EXPECT(!pagemap_page(page_at(at, n)).present,
				       "page %zu is not swapped", n);
		}
		expect_survivors(at, pages, kib, mask);
		range_drop(at, pages);
	}
}

QUIRE_CASE_SIZES(lazyfree, rewritten_mlocked_kept, LARGE_SIZES)
{
	size_t n, pages = range_pages(kib);

	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		char *at = rewritten_range(kib, MASK_MIDDLE);

		mask_mlock(at, pages, kib, mask);
		reclaim(at, pages, BY_MEMCG);
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, kib))
				EXPECT(pagemap_page(page_at(at, n)).present,
				       "page %zu (locked: %s) was reclaimed", n,
				       mask->name);
		}
		expect_survivors(at, pages, kib, MASK_MIDDLE);
		if (munlock(at, pages * PAGE_SIZE))
			die_errno("munlock");
		reclaim(at, pages, BY_MEMCG);
		reclaim(at, pages, BY_MEMCG);
		expect_survivors(at, pages, kib, MASK_MIDDLE);
		range_drop(at, pages);
		EXPECT_EQ(status_kib("VmLck"), 0);
	}
}

/* What the device wrote to is kept, and so is what the processor wrote to. */
QUIRE_CASE_SIZES(lazyfree, rewritten_exclusive_kept, LARGE_SIZES)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);
	char *new = map_anon(NULL, PAGE_SIZE);

	if (!dmirror_open())
		SKIP("this kernel has no test device (configs/device.config)");
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		char *at = rewritten_range(kib, MASK_LAST);

		for (n = nr / 2; n < pages; n += nr) {
			dmirror_make_exclusive(page_at(at, n));
			pattern_write_page(new, SEED_NEW, n);
			dmirror_write(page_at(at, n), new, 1);
		}
		lazy_rewrite(at, pages, kib, mask);
		reclaim(at, pages, BY_MEMCG);
		reclaim(at, pages, BY_MEMCG);
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, kib) || n % nr == nr / 2 ||
			    masked(MASK_LAST, n, kib))
				expect_content(page_at(at, n), 1, SEED_NEW, n);
			else
				expect_old_or_zero(page_at(at, n), 1, n);
		}
		range_drop(at, pages);
	}
	dmirror_close();
}

/* Aging takes the accessed bits, and leaves the dirty bits to the entries. */
QUIRE_CASE_SIZES_TAGGED(lazyfree, rewritten_aged_dropped, SERIES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	unsigned long freed;
	char *at;

	swap_on(SWAP_MIB);
	lru_gen_enable(true);
	at = rewritten_range(kib, MASK_LAST);
	lru_gen_age();
	lru_gen_age();
	freed = vmstat("pglazyfreed");
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(vmstat("pglazyfreed") - freed, pages - pages / folio_pages(kib));
	expect_survivors(at, pages, kib, MASK_LAST);
	range_drop(at, pages);
}

/*
 * Where there are huge pages of 32 MiB, the kernel empties that much memory for
 * one. It drops the clean file and lazyfree pages there first.
 */
QUIRE_CASE_SIZES(lazyfree, rewritten_range_emptied, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	unsigned long anon, file;

	if (access(GIGANTIC, F_OK))
		SKIP("this kernel empties no ranges of memory");
	swap_on(SWAP_MIB);
	env_drain_lru();
	anon = vmstat("nr_isolated_anon");
	file = vmstat("nr_isolated_file");
	for_each_mask(mask) {
		char *at = rewritten_range(kib, mask);

		write_file(GIGANTIC, "64");
		write_file(GIGANTIC, "0");
		EXPECT_EQ(vmstat("nr_isolated_anon"), anon);
		EXPECT_EQ(vmstat("nr_isolated_file"), file);
		expect_survivors(at, pages, kib, mask);
		range_drop(at, pages);
	}
}
