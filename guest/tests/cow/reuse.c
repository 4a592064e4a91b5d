// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that only one process has again: each keeps its frame, and where pages are
 * written to in order, a fault makes a block of up to 64 KiB writable. Linux 6.12
 * copies the pages of large folios; with the series, those of 512 KiB and more
 * only until four pages in order have been written to.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cow.h"
#include "kernel/reclaim.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "process/child.h"

#define VALUE		0x77ull
#define SLACK		3ul	/* faults of other pages of this program */
#define MANY_FORKS	70	/* more than a byte of swap_map can count */
#define SWAP_MIB	(64 * PAGE_SCALE)

static size_t tables(size_t pages)
{
	return (pages + PMD_PAGES - 1) / PMD_PAGES;
}

/* The series makes so many pages writable by a fault: 64 KiB. */
static size_t by_one_fault(void)
{
	return 64 * KIB / PAGE_SIZE;
}

/* At most one fault for four pages, or for what one fault makes writable. */
static unsigned long few_faults(size_t pages)
{
	return pages / (by_one_fault() < 4 ? by_one_fault() : 4);
}

/* One fault a block, and one for the first page of each page table. */
static unsigned long blocks(size_t pages, unsigned long kib)
{
	size_t most = by_one_fault();
	size_t block = folio_pages(kib) < most ? folio_pages(kib) : most;

	return kib * KIB >= PMD_SIZE ? 0 : pages / block + tables(pages);
}

/* How many pages 6.12 may copy before it counts the entries of a folio. */
static size_t copied_first(size_t pages, unsigned long kib)
{
	return folio_pages(kib) > 64 ? 4 * tables(pages) : 0;
}

/* All are written, with one fault a block, and none is copied. */
static void expect_reused(char *at, size_t pages, unsigned long kib,
			  unsigned long most)
{
	struct snapshot *before = snapshot(at, pages);
	unsigned long faults = cow_mark_all(at, pages, kib, MASK_ALL, VALUE);
	size_t copied = copied_first(pages, kib), same;

	most += copied;
	EXPECT(faults <= most + SLACK, "%lu faults for %zu pages, not %lu",
	       faults, pages, most);
	same = cow_same_frames(before, at);
	EXPECT(same + copied >= pages, "%zu of %zu pages kept their frame", same,
	       pages);
	cow_expect(at, pages, kib, MASK_ALL, VALUE);
	free(before);
}

QUIRE_CASE_SIZES_TAGGED(cow, child_gone, SERIES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = cow_range(kib, by_pte);

		fork_and_forget();
		expect_reused(at, pages, kib, by_pte ? few_faults(pages) :
					       blocks(pages, kib));
		range_drop(at, pages);
	}
}

QUIRE_CASE_SIZES_TAGGED(cow, one_fault_a_block, SERIES, 16, 64, 256, 1024)
{
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);

	fork_and_forget();
	expect_reused(at, pages, kib, blocks(pages, kib));
	range_drop(at, pages);
}

QUIRE_CASE_SIZES_TAGGED(cow, many_forks, SERIES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);
	int i;

	for (i = 0; i < MANY_FORKS; i++) {
		fork_and_forget();
		if (i % 16 == 0)
			cow_mark(at, i % pages, VALUE);
	}
	expect_reused(at, pages, kib, few_faults(pages));
	range_drop(at, pages);
}

static unsigned long mark_in_each_block(char *at, size_t pages, size_t index)
{
	unsigned long before = cow_faults();
	size_t n;

	for (n = index; n < pages; n += BLOCK)
		cow_mark(at, n, VALUE);
	return cow_faults() - before;
}

/*
 * Two pages in each 64 KiB are written to, in no order: each by a fault that does
 * nothing for the others, except where they are one block of the architecture.
 */
QUIRE_CASE_SIZES(cow, sparse, LARGE_SIZES)
{
	bool in_blocks = ARCH_BLOCK_STATE && kib >= BLOCK * PAGE_SIZE / KIB;
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);

	fork_and_forget();
	cow_faults();	/* the pages of this program, too, were shared */
	EXPECT(mark_in_each_block(at, pages, 5) >= pages / BLOCK,
	       "a page was written to without a fault");
	EXPECT(mark_in_each_block(at, pages, 8) >= pages / BLOCK || in_blocks,
	       "a page became writable by the write to another");
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE);
	cow_expect(at, pages, kib, MASK_ALL, VALUE);
	range_drop(at, pages);
}

/* The parent gets copies; then the child is the only one who has the folios. */
QUIRE_CASE_SIZES_TAGGED(cow, child_reuses, SERIES, 16, 64, 256, 1024)
{
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_content(at, pages, SEED, 0);
		expect_reused(at, pages, kib, blocks(pages, kib));
		peer_end(&peer);
	}
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE + 1);
	peer_turn(&peer);
	peer_join(&peer, "the child that keeps the folios");
	cow_expect(at, pages, kib, MASK_ALL, VALUE + 1);
	range_drop(at, pages);
}

/* Some pages of each folio are no longer mapped: the rest is still reused. */
QUIRE_CASE_SIZES_TAGGED(cow, rest_reused, SERIES, 64, 256)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = cow_range(kib, true);
		struct snapshot *before;
		size_t n, same = 0, mapped = 0;

		fork_and_forget();
		for (n = 0; n < pages; n++) {
			if (!masked(mask, n, kib))
				continue;
			if (madvise(page_at(at, n), PAGE_SIZE, MADV_DONTNEED))
				die_errno("MADV_DONTNEED");
		}
		before = snapshot(at, pages);
		for (n = 0; n < pages; n++) {
			struct page_state now;

			if (masked(mask, n, kib))
				continue;
			mapped++;
			cow_mark(at, n, VALUE);
			cow_expect_rest(at, n);
			now = pagemap_page(page_at(at, n));
			same += now.pfn == before->page[n].pfn;
		}
		/* A single page is copied, to free its folio */
		if (mapped > pages / folio_pages(kib))
			EXPECT_EQ(same, mapped);
		free(before);
		range_drop(at, pages);
	}
}

/*
 * Each of the folios has a swap slot that nothing uses any more. With the series,
 * 6.12 frees the slots of a block on a fault, not more.
 */
QUIRE_CASE_SIZES_TAGGED(cow, in_swap_cache, SERIES, 16, 64)
{
	size_t pages = range_pages(kib);
	char *at;

	swap_on(SWAP_MIB);
	at = range_charged(kib, true);
	reclaim_to_swap_cache(at, pages, kib);
	fork_and_forget();
	expect_reused(at, pages, kib, few_faults(pages));
	range_drop(at, pages);
}

/*
 * The child maps the folios, and the parent has swap entries of the same slots:
 * what the child writes must not come to the parent from the swap cache.
 */
QUIRE_CASE_SIZES(cow, parent_in_swap, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	struct peer peer;
	char *at;

	swap_on(SWAP_MIB);
	at = range_charged(kib, true);
	reclaim_to_swap_cache(at, pages, kib);
	if (!peer_fork(&peer)) {
		mask_mlock(at, pages, kib, MASK_FIRST);
		peer_turn(&peer);
		munlock(at, pages * PAGE_SIZE);
		cow_mark_all(at, pages, kib, MASK_ALL, VALUE);
		peer_turn(&peer);
		cow_expect(at, pages, kib, MASK_ALL, VALUE);
		peer_end(&peer);
	}
	peer_wait(&peer);
	reclaim_shared(peer.pid);
	EXPECT(pagemap_swapped(at, pages), "no page of the parent is swapped out");
	peer_turn(&peer);
	expect_content(at, pages, SEED, 0);
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE + 1);
	peer_turn(&peer);
	peer_join(&peer, "the child that keeps the folios");
	cow_expect(at, pages, kib, MASK_ALL, VALUE + 1);
	range_drop(at, pages);
}
