// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that only one process has again: each keeps its frame, and where pages are
 * written to in order, a fault makes a block of up to 64 KiB writable. Linux 6.12
 * copies the pages of large folios; with the series, those of 512 KiB and more
 * only until four pages in order have been written to.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "cow.h"

#define VALUE		0x77ull
#define SLACK		3ul	/* faults of other pages of this program */
#define MANY_FORKS	70	/* more than a byte of swap_map can count */

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

TAGGED_TRIAL_CASE(cow, child_gone, SERIES, plain, MAPPINGS, LARGE_SIZES)
{
	fork_and_forget();
	expect_reused(t->at, t->pages, t->kib, t->by_pte ?
		      few_faults(t->pages) : blocks(t->pages, t->kib));
}

TAGGED_TRIAL_CASE(cow, one_fault_a_block, SERIES, plain, 0, 16, 64, 256, 1024)
{
	fork_and_forget();
	expect_reused(t->at, t->pages, t->kib, blocks(t->pages, t->kib));
}

TAGGED_TRIAL_CASE(cow, many_forks, SERIES, plain, 0, LARGE_SIZES)
{
	int i;

	for (i = 0; i < MANY_FORKS; i++) {
		fork_and_forget();
		if (i % 16 == 0)
			cow_mark(t->at, i % t->pages, VALUE);
	}
	expect_reused(t->at, t->pages, t->kib, few_faults(t->pages));
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
TRIAL_CASE(cow, sparse, plain, 0, LARGE_SIZES)
{
	bool in_blocks = ARCH_BLOCK_STATE && t->kib >= BLOCK * PAGE_SIZE / KIB;

	fork_and_forget();
	cow_faults();	/* the pages of this program, too, were shared */
	EXPECT(mark_in_each_block(t->at, t->pages, 5) >= t->pages / BLOCK,
	       "a page was written to without a fault");
	EXPECT(mark_in_each_block(t->at, t->pages, 8) >= t->pages / BLOCK ||
	       in_blocks, "a page became writable by the write to another");
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE);
	cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE);
}

/* The parent gets copies; then the child is the only one who has the folios. */
TAGGED_TRIAL_CASE(cow, child_reuses, SERIES, plain, 0, 16, 64, 256, 1024)
{
	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		expect_content(t->at, t->pages, SEED, 0);
		expect_reused(t->at, t->pages, t->kib,
			      blocks(t->pages, t->kib));
		peer_end(&t->peer);
	}
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that keeps the folios");
	cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
}

/* Some pages of each folio are no longer mapped: the rest is still reused. */
TAGGED_TRIAL_CASE(cow, rest_reused, SERIES, plain, MASKS, 64, 256)
{
	size_t n, same = 0, mapped = 0;

	fork_and_forget();
	for (n = 0; n < t->pages; n++) {
		if (!masked(t->mask, n, t->kib))
			continue;
		range_advise(page_at(t->at, n), 1, MADV_DONTNEED);
	}
	t->before = snapshot(t->at, t->pages);
	for (n = 0; n < t->pages; n++) {
		struct page_state now;

		if (masked(t->mask, n, t->kib))
			continue;
		mapped++;
		cow_mark(t->at, n, VALUE);
		cow_expect_rest(t->at, n);
		now = pagemap_page(page_at(t->at, n));
		same += now.pfn == t->before->page[n].pfn;
	}
	/* A single page is copied, to free its folio */
	if (mapped > t->pages / folio_pages(t->kib))
		EXPECT_EQ(same, mapped);
}

/*
 * Each of the folios has a swap slot that nothing uses any more. With the series,
 * 6.12 frees the slots of a block on a fault, not more.
 */
TAGGED_TRIAL_CASE(cow, in_swap_cache, SERIES, charged_with_swap, 0, 16, 64)
{
	reclaim_to_swap_cache(t->at, t->pages, t->kib);
	fork_and_forget();
	expect_reused(t->at, t->pages, t->kib, few_faults(t->pages));
}

/*
 * The child maps the folios, and the parent has swap entries of the same slots:
 * what the child writes must not come to the parent from the swap cache.
 */
TRIAL_CASE(cow, parent_in_swap, charged_with_swap, 0, LARGE_SIZES)
{
	reclaim_to_swap_cache(t->at, t->pages, t->kib);
	if (!peer_fork(&t->peer)) {
		mask_mlock(t->at, t->pages, t->kib, MASK_FIRST);
		peer_turn(&t->peer);
		munlock(t->at, t->pages * PAGE_SIZE);
		cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE);
		peer_turn(&t->peer);
		cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE);
		peer_end(&t->peer);
	}
	peer_wait(&t->peer);
	reclaim_shared(t->peer.pid);
	EXPECT(pagemap_swapped(t->at, t->pages),
	       "no page of the parent is swapped out");
	peer_turn(&t->peer);
	expect_content(t->at, t->pages, SEED, 0);
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that keeps the folios");
	cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
}
