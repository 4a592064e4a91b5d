// SPDX-License-Identifier: GPL-2.0
/*
 * Lazily freed folios that were written to again in part. Reclaim drops their
 * clean pages, and swaps out only what was written. Where it cannot tell, or
 * where a split does not pay, the folio stays whole.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/lru_gen.h"
#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/share.h"
#include "proc/proc.h"

/* More dirty pages of a folio than that, and it stays whole. */
static bool is_worth_it(size_t dirty, size_t nr)
{
	return dirty * 4 <= nr;
}

/*
 * Which pages of a folio count as written to: those in the mask, and with
 * `blocks`, all of a block in which one is. Returns how many of a folio stay.
 */
static size_t kept_pages(bool *kept, unsigned long kib, const struct mask *mask,
			 bool blocks)
{
	size_t n, dirty = 0, nr = folio_pages(kib);
	size_t step = blocks && nr >= BLOCK ? BLOCK : 1;

	memset(kept, 0, nr * sizeof(*kept));
	for (n = 0; n < nr; n++) {
		if (masked(mask, n, kib))
			memset(kept + n / step * step, true, step);
	}
	for (n = 0; n < nr; n++)
		dirty += kept[n];
	if (is_worth_it(dirty, nr))
		return dirty;
	memset(kept, true, nr * sizeof(*kept));
	return nr;
}

static void expect_kept(const char *at, size_t pages, unsigned long kib,
			const bool *kept, const struct mask *mask)
{
	struct snapshot *now = snapshot(at, pages);
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(now->page[n].present == kept[n % folio_pages(kib)],
		       "page %zu (rewritten: %s) is%s mapped", n, mask->name,
		       now->page[n].present ? "" : " not");
	free(now);
}

/*
 * After one pass only what was written to is mapped, and the rest is free and
 * counted. After the next, only that was written to swap.
 */
static void check_only_written(unsigned long kib, const struct mask *mask)
{
	size_t pages = range_pages(kib), folios = pages / folio_pages(kib);
	bool *kept = malloc(folio_pages(kib) * sizeof(*kept));
	char *at = lazy_range(kib, true);
	unsigned long freed, out;
	size_t nr_kept;

	lazy_unfold(at, pages);
	lazy_rewrite(at, pages, kib, mask);
	nr_kept = folios * kept_pages(kept, kib, mask, false);
	freed = vmstat("pglazyfreed");
	out = vmstat("pswpout");
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(vmstat("pglazyfreed") - freed, pages - nr_kept);
	expect_kept(at, pages, kib, kept, mask);
	EXPECT_EQ(lazy_swapbacked(at, pages), nr_kept);
	EXPECT_EQ(smaps_kib(at, "Rss"), nr_kept * PAGE_KIB);
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(vmstat("pswpout") - out, nr_kept);
	EXPECT_EQ(pagemap_swapped(at, pages), nr_kept);
	EXPECT_EQ(vmstat("pglazyfreed") - freed, pages - nr_kept);
	expect_survivors(at, pages, kib, mask);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(kept);
}

QUIRE_CASE_SIZES_TAGGED(lazyfree, only_written_swapped, SERIES, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mask(mask)
		check_only_written(kib, mask);
}

/* Reclaim of the cgroup, with either kind of LRU: the second pass swaps. */
static void check_memcg(unsigned long kib, const struct mask *mask, bool mglru)
{
	size_t pages = range_pages(kib), folios = pages / folio_pages(kib), nr_kept;
	bool *kept = malloc(folio_pages(kib) * sizeof(*kept));
	unsigned long freed;
	char *at;

	lru_gen_enable(mglru);
	at = lazy_range(kib, true);
	lazy_rewrite(at, pages, kib, mask);
	nr_kept = folios * kept_pages(kept, kib, mask, ARCH_BLOCK_STATE);
	freed = vmstat("pglazyfreed");
	reclaim(at, pages, BY_MEMCG);
	reclaim(at, pages, BY_MEMCG);
	EXPECT_EQ(vmstat("pglazyfreed") - freed, pages - nr_kept);
	EXPECT_EQ(pagemap_present(at, pages) + pagemap_swapped(at, pages), nr_kept);
	expect_survivors(at, pages, kib, mask);
	range_drop(at, pages);
	free(kept);
}

QUIRE_CASE_SIZES_TAGGED(lazyfree, only_written_swapped_memcg, SERIES, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		check_memcg(kib, mask, false);
		check_memcg(kib, mask, true);
	}
}

/*
 * A block has one dirty bit: all of its pages may have been written to. The
 * other blocks of the folio are dropped.
 */
QUIRE_CASE_SIZES_TAGGED(lazyfree, written_blocks_kept, SERIES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	bool *kept = malloc(folio_pages(kib) * sizeof(*kept));

	for_each_mask(mask) {
		char *at = lazy_range(kib, true);

		lazy_rewrite(at, pages, kib, mask);
		kept_pages(kept, kib, mask, ARCH_BLOCK_STATE);
		reclaim(at, pages, BY_PAGEOUT);
		expect_kept(at, pages, kib, kept, mask);
		expect_survivors(at, pages, kib, mask);
		range_drop(at, pages);
	}
	free(kept);
}

/* A PMD has one dirty bit for the folio. */
QUIRE_CASE(lazyfree, written_pmd_whole)
{
	for_each_mask(mask) {
		char *at = lazy_range(PMD_KIB, false);
		size_t pages = range_pages(PMD_KIB);

		lazy_rewrite(at, pages, PMD_KIB, mask);
		reclaim(at, pages, BY_PAGEOUT);
		EXPECT_EQ(pagemap_present(at, pages), pages);
		expect_survivors(at, pages, PMD_KIB, mask);
		range_drop(at, pages);
	}
}

/* Each page of the range is still there, with what it had. */
static void expect_whole(const char *at, size_t pages, unsigned long kib,
			 const struct mask *written)
{
	size_t n;

	EXPECT_EQ(pagemap_present(at, pages), pages);
	for (n = 0; n < pages; n++)
		expect_content(at + n * PAGE_SIZE, 1,
			       masked(written, n, kib) ? SEED_NEW : SEED, n);
}

/* A child maps the folio, too. */
QUIRE_CASE_SIZES(lazyfree, written_shared_whole, LARGE_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = lazy_range(kib, true);
		struct peer peer;

		lazy_rewrite(at, pages, kib, mask);
		if (!peer_fork(&peer)) {
			peer_wait(&peer);
			expect_whole(at, pages, kib, mask);
			peer_end(&peer);
		}
		reclaim_shared(peer.pid);
		expect_whole(at, pages, kib, mask);
		peer_turn(&peer);
		peer_join(&peer, "the child that shares the range");
		range_drop(at, pages);
	}
}

/* A page of the folio has an extra reference. */
QUIRE_CASE_SIZES(lazyfree, written_held_whole, LARGE_SIZES)
{
	size_t pages = range_pages(kib), kept;

	for_each_mask(mask) {
		char *at = lazy_range(kib, true);
		struct hold hold;

		lazy_rewrite(at, pages, kib, mask);
		hold = hold_folios(at, pages, kib, folio_pages(kib) / 2);
		kept = hold.held * folio_pages(kib);
		reclaim(at, pages, BY_PAGEOUT);
		expect_whole(at, kept, kib, mask);
		hold_end(&hold);
		reclaim(at, pages, BY_PAGEOUT);
		expect_survivors(at, pages, kib, mask);
		range_drop(at, pages);
	}
}

/*
 * The folio lies in two page tables: written pages survive. Each table is looked at
 * by itself, so the clean part of a folio may be dropped if it comes first.
 */
QUIRE_CASE_SIZES(lazyfree, written_across_pmd, LARGE_SIZES)
{
	size_t nr = folio_pages(kib), pages = range_pages(kib);

	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		char *at = lazy_range(kib, true);
		char *to = range_hole(page_at(DST_BASE, PMD_PAGES - nr / 2), pages);

		move(at, pages, to);
		lazy_rewrite(to, pages, kib, mask);
		reclaim(to, pages, BY_MEMCG);
		expect_survivors(to, pages, kib, mask);
		reclaim(to, pages, BY_MEMCG);
		expect_survivors(to, pages, kib, mask);
		range_drop(at, pages);
		range_drop(to, pages);
	}
}

/* A part of the folio is in another VMA, or gone: written pages survive. */
static void check_part(unsigned long kib, const struct mask *mask,
		       const struct part *part)
{
	const struct mask *written = mask_opposite(mask);
	size_t n, pages = range_pages(kib);
	char *at = lazy_range(kib, true);

	lazy_rewrite(at, pages, kib, written);
	part_give(at, pages, kib, mask, part);
	reclaim(at, pages, BY_MEMCG);
	reclaim(at, pages, BY_MEMCG);
	if (part->prot >= 0)
		range_protect(at, pages, PROT_READ | PROT_WRITE);
	for (n = 0; n < pages; n++) {
		if (part->gone && masked(mask, n, kib))
			continue;
		if (masked(written, n, kib))
			expect_content(page_at(at, n), 1, SEED_NEW, n);
		else
			expect_old_or_zero(page_at(at, n), 1, n);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, part_written, LARGE_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_part(kib, check_part);
}

/* A page written with zeroes needs no memory: the split maps the zero page. */
static void check_zeroes(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = range_pages(kib), folios = pages / folio_pages(kib);
	bool *kept = malloc(folio_pages(kib) * sizeof(*kept));
	char *at = lazy_range(kib, true);
	size_t nr_kept;

	lazy_unfold(at, pages);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			memset(page_at(at, n), 0, PAGE_SIZE);
	}
	nr_kept = kept_pages(kept, kib, mask, false);
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(smaps_kib(at, "Rss"), nr_kept < folio_pages(kib) ? 0 :
		  folios * nr_kept * PAGE_KIB);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			expect_zero(page_at(at, n), 1);
		else
			expect_old_or_zero(page_at(at, n), 1, n);
	}
	expect_writable(at, pages);
	range_drop(at, pages);
	free(kept);
}

QUIRE_CASE_SIZES_TAGGED(lazyfree, rewritten_with_zeroes, SERIES, LARGE_SIZES)
{
	for_each_mask(mask)
		check_zeroes(kib, mask);
}

/* Freed and written again, several times: nothing is kept that was dropped. */
QUIRE_CASE_SIZES(lazyfree, written_rounds, LARGE_SIZES)
{
	size_t round, pages = range_pages(kib);
	char *at = lazy_range(kib, true);

	swap_on(SWAP_MIB);
	for (round = 0; round < NR_MASKS; round++) {
		lazy_rewrite(at, pages, kib, &masks[round]);
		reclaim(at, pages, round % NR_HOW);
		expect_survivors(at, pages, kib, &masks[round]);
		range_fill(at, pages, kib, SEED);
		if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
			die_errno("MADV_FREE");
	}
	range_drop(at, pages);
}
