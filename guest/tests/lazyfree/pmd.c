// SPDX-License-Identifier: GPL-2.0
/* Folios of 2 MiB that are mapped by PMD. */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/folio.h"
#include "proc/proc.h"

#define KIB_PMD		(PMD_SIZE / KIB)

static char *pmd_range(size_t pages)
{
	char *at = lazy_range(KIB_PMD, false);

	range_assert_pmds(at, pages);
	return at;
}

/* One byte written: the whole folio must be kept. */
static void check_byte(size_t offset, enum how how)
{
	size_t pages = range_pages(KIB_PMD);
	char *at = pmd_range(pages);

	at[offset] ^= 0x55;
	reclaim(at, pages, how);
	at[offset] ^= 0x55;
	expect_content(page_at(at, offset / PAGE_SIZE), 1, SEED,
		       offset / PAGE_SIZE);
	expect_old_or_zero(at, pages, 0);
	range_drop(at, pages);
}

QUIRE_CASE(lazyfree, pmd_one_byte_kept)
{
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		check_byte(0, how);
		check_byte(PMD_SIZE - 1, how);
		check_byte(PMD_SIZE + PMD_SIZE / 2, how);
	}
}

/*
 * Redirtied, and kept without splitting the PMD: no byte is lost, and the
 * mapping is unchanged. Stock 6.12 splits the PMD first.
 */
QUIRE_CASE_TAGGED(lazyfree, pmd_redirtied_not_split, SERIES)
{
	size_t pages = range_pages(KIB_PMD);
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		char *at = pmd_range(pages);
		unsigned long split = vmstat("thp_split_pmd");
		struct snapshot *before;

		lazy_rewrite(at, pages, KIB_PMD, &masks[1]);
		before = snapshot(at, pages);
		reclaim(at, pages, how);
		EXPECT_EQ(vmstat("thp_split_pmd") - split, 0);
		EXPECT_EQ(folio_pmd_mapped_kib(at), pages * PAGE_SIZE / KIB);
		expect_entries(before, at);
		EXPECT_EQ(lazy_swapbacked(at, pages), pages);
		lazy_rewrite(at, pages, KIB_PMD, MASK_ALL);
		expect_content(at, pages, SEED_NEW, 0);
		range_drop(at, pages);
		free(before);
	}
}

/* A kept folio is an ordinary one: it is swapped out and comes back. */
QUIRE_CASE(lazyfree, pmd_redirtied_to_swap)
{
	size_t pages = range_pages(KIB_PMD);
	char *at = pmd_range(pages);

	swap_on(SWAP_MIB);
	lazy_rewrite(at, pages, KIB_PMD, MASK_ALL);
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(lazy_swapbacked(at, pages), pages);
	expect_content(at, pages, SEED_NEW, 0);
	swap_out(at, pages);
	expect_content(at, pages, SEED_NEW, 0);
}

/*
 * Many in one call: of every five, the first and the third were written to
 * again, and the second and the third are mapped by PTEs.
 */
static bool many_redirtied(size_t folio)
{
	return folio % 5 == 0 || folio % 5 == 2;
}

static bool many_by_ptes(size_t folio)
{
	return folio % 5 == 1 || folio % 5 == 2;
}

static void check_many(size_t folios)
{
	size_t i, pages = folios * PMD_PAGES;
	char *at = range_by_pmds(folios);

	lazy_free(at, pages);
	for (i = 0; i < folios; i++) {
		char *folio = pmd_at(at, i);

		if (many_by_ptes(i))
			range_split_pmd(folio);
		if (many_redirtied(i))
			lazy_rewrite(folio, PMD_PAGES, KIB_PMD, MASK_ALL);
	}
	reclaim(at, pages, BY_PAGEOUT);
	for (i = 0; i < folios; i++) {
		char *folio = pmd_at(at, i);

		if (!many_redirtied(i)) {
			expect_dropped(folio, PMD_PAGES);
			continue;
		}
		EXPECT_EQ(lazy_swapbacked(folio, PMD_PAGES), PMD_PAGES);
		/* It has no reference left over, and is on an LRU list. */
		swap_out(folio, PMD_PAGES);
		expect_content(folio, PMD_PAGES, SEED_NEW, 0);
	}
	range_drop(at, pages);
}

QUIRE_CASE(lazyfree, pmd_many_redirtied)
{
	static const size_t counts[] = { 3, 8, 9, 12, 21 };
	size_t i;

	memcg_enter();
	swap_on(SWAP_MIB);
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		check_many(counts[i]);
}

/* And can be freed lazily again. */
QUIRE_CASE(lazyfree, pmd_redirtied_freed_again)
{
	size_t pages = range_pages(KIB_PMD);
	char *at = pmd_range(pages);

	lazy_rewrite(at, pages, KIB_PMD, MASK_ALL);
	reclaim(at, pages, BY_PAGEOUT);
	lazy_free(at, pages);
	reclaim(at, pages, BY_PAGEOUT);
	expect_dropped(at, pages);
}

/*
 * Mapped by PMD in the parent and by PTEs in the child; redirtied by one, the
 * other, or neither. The child has its own copies of its first and last page.
 */
static void check_two_ways(bool parent_writes, bool child_writes)
{
	size_t pages = range_pages(KIB_PMD);
	char *at = pmd_range(pages);
	struct peer peer;

	if (!peer_fork(&peer)) {
		const struct mask *mask = &masks[0];

		range_split_pmds(at, pages);
		if (child_writes)
			lazy_rewrite(at, pages, KIB_PMD, mask);
		peer_turn(&peer);
		if (child_writes)
			expect_survivors(at, pages, KIB_PMD, mask);
		else
			expect_old_or_zero(at, pages, 0);
		peer_end(&peer);
	}
	peer_wait(&peer);
	if (parent_writes)
		lazy_rewrite(at, pages, KIB_PMD, &masks[1]);
	reclaim_shared(peer.pid);
	if (parent_writes)
		expect_survivors(at, pages, KIB_PMD, &masks[1]);
	else
		expect_old_or_zero(at, pages, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that maps by PTEs");
	expect_writable(at, pages);
	range_drop(at, pages);
}

QUIRE_CASE(lazyfree, pmd_and_ptes)
{
	check_two_ways(false, false);
	check_two_ways(true, false);
	check_two_ways(false, true);
	check_two_ways(true, true);
}

/* The child's PMD is still dirty from before the parent's MADV_FREE. */
QUIRE_CASE(lazyfree, pmd_child_dirty)
{
	size_t pages = range_pages(KIB_PMD);
	char *at = range_charged(KIB_PMD, false);
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_content(at, pages, SEED, 0);
		peer_end(&peer);
	}
	/* By PTEs, because MADV_FREE skips a shared PMD. */
	range_split_pmds(at, pages);
	range_advise(at, pages, MADV_FREE);
	reclaim_shared(peer.pid);
	expect_old_or_zero(at, pages, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that freed nothing");
}

static void expect_in_swap_cache(const char *at, size_t pages, bool in)
{
	size_t n;

	for (n = 0; n < pages; n += PMD_PAGES) {
		uint64_t flags = kpage_flags(pagemap_page(at + n * PAGE_SIZE).pfn);

		EXPECT(!!(flags & KPF_SWAPCACHE) == in,
		       "folio %zu is %sin the swap cache", n / PMD_PAGES,
		       in ? "not " : "");
	}
}

/* The rmap comes to mappings that begin at the same page in the order of changes. */
static void come_second(char *at)
{
	range_advise(pmd_at(at, 1), PMD_PAGES, MADV_DONTFORK);
}

/*
 * A folio in the swap cache that is still mapped by a PMD: reclaim met another
 * process first, with a locked page. MADV_FREE takes it out of the swap cache.
 */
QUIRE_CASE_TAGGED(lazyfree, pmd_in_swap_cache, FIXES)
{
	size_t pages = range_pages(KIB_PMD);
	char *at = range_charged(KIB_PMD, false);
	struct peer peer;

	swap_on(SWAP_MIB);
	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		come_second(at);
		peer_turn(&peer);
		range_assert_pmds(at, PMD_PAGES);
		expect_in_swap_cache(at, pages, true);
		lazy_free(at, pages);
		expect_in_swap_cache(at, pages, false);
		page_out(at, pages * PAGE_SIZE);
		expect_dropped(at, pages);
		peer_end(&peer);
	}
	range_split_pmds(at, pages);
	mask_mlock(at, pages, KIB_PMD, MASK_FIRST);
	peer_turn(&peer);
	reclaim_to_swap_cache(at, pages, KIB_PMD);
	range_drop(at, pages);
	peer_turn(&peer);
	peer_join(&peer, "the process that frees");
}
