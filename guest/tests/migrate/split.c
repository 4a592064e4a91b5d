// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that are split while they are mapped: their entries become migration
 * entries, and all new folios are mapped again in one walk. Each page has its own
 * bits afterwards, in the folio that it belongs to now.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/wp.h"
#include "memory/folio.h"
#include "memory/part.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "migrate.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "report/die.h"
#include "tests/aging/aging.h"

#define SPLIT "/sys/kernel/debug/split_huge_pages"

/* The folios that are left of each: single pages, of four pages, or of both kinds. */
static const struct way {
	const char *name;
	unsigned int order;
	bool around;	/* one page, so that folios of each size are left */
} ways[] = {
	{ "single pages", 0, false },
	{ "folios of four pages", 2, false },
	{ "folios of all sizes", 0, true },
};

/* Folios of four pages can only become single ones. */
static bool way_fits(const struct way *way, unsigned long kib)
{
	return folio_pages(kib) > 4 || (!way->order && !way->around);
}

#define for_each_way(way, kib)						\
	for (const struct way *way = ways; way < ways + ARRAY_SIZE(ways); way++) \
		if (way_fits(way, kib))

static void split_around(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	for (n = 0; n < pages; n += nr)
		write_file(SPLIT, "%d,0x%lx,0x%lx,0,%zu", getpid(),
			   (unsigned long)page_at(at, n),
			   (unsigned long)page_at(at, n + 1), nr / 2 + 1);
}

/* The first page of each folio is mapped if it is split around another. */
static void split_no_check(char *at, size_t pages, unsigned long kib,
			   const struct way *way)
{
	if (way->around)
		split_around(at, pages, kib);
	else
		write_file(SPLIT, "%d,0x%lx,0x%lx,%u", getpid(),
			   (unsigned long)at, (unsigned long)page_at(at, pages),
			   way->order);
}

/* All pages are still mapped: no folio of the old size is left. */
static void split(char *at, size_t pages, unsigned long kib,
		  const struct way *way)
{
	size_t total, len = pages * PAGE_SIZE;

	split_no_check(at, pages, kib, way);
	EXPECT(!folio_count(at, len, kib, &total),
	       "%s: some of %zu folios were not split", way->name, total);
	if (way->order)
		EXPECT_EQ(folio_count(at, len, 4 * PAGE_KIB, &total),
			  pages / 4);
}

static void check_wp(unsigned long kib, const struct way *way,
		     const struct mask *mask, bool alike)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct snapshot *before;
	int uffd;

	if (alike)
		fork_and_forget();
	uffd = wp_protect(at, pages, kib, mask);
	before = snapshot(at, pages);
	split(at, pages, kib, way);
	expect_entries(before, at);
	expect_content(at, pages, SEED, 0);
	expect_wp_stopped(uffd, at, pages, kib, mask);
	close(uffd);
	range_drop(at, pages);
	free(before);
}

/*
 * Write protection by userfaultfd stays, and all others can be written to. With
 * `alike`, all entries are read-only, and only the protection differs.
 */
QUIRE_CASE_SIZES(migrate, split_wp, LARGE_SIZES)
{
	for_each_way(way, kib) {
		for_each_mask(mask) {
			check_wp(kib, way, mask, false);
			check_wp(kib, way, mask, true);
		}
	}
}

static void check_soft_dirty(unsigned long kib, const struct way *way,
			     const struct mask *mask, bool alike)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct snapshot *before;

	soft_dirty_where(at, pages, kib, mask);
	if (alike)
		fork_and_forget();
	before = snapshot(at, pages);
	split(at, pages, kib, way);
	expect_entries(before, at);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(before->page[n].soft_dirty, masked(mask, n, kib));
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(migrate, split_soft_dirty, LARGE_SIZES)
{
	needs_soft_dirty();
	for_each_way(way, kib) {
		for_each_mask(mask) {
			check_soft_dirty(kib, way, mask, false);
			check_soft_dirty(kib, way, mask, true);
		}
	}
}

static void check_young(unsigned long kib, const struct way *way,
			const struct mask *mask)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	unsigned long referenced, later;

	age_range(at, pages);
	access_pages(at, pages, kib, mask);
	referenced = smaps_kib(at, "Referenced");
	split(at, pages, kib, way);
	later = smaps_kib(at, "Referenced");
	EXPECT(later == referenced,
	       "%s, %s: %lu KiB were accessed, not %lu KiB", way->name,
	       mask->name, later, referenced);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}

/* What was accessed, and no other page, counts as accessed. */
QUIRE_CASE_SIZES(migrate, split_young, LARGE_SIZES)
{
	for_each_way(way, kib)
		for_each_mask(mask)
			check_young(kib, way, mask);
}

/* A child has all pages but those in the mask. */
static void check_shared(unsigned long kib, const struct way *way,
			 const struct mask *alone)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct snapshot *before;
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone)) {
		sharer_looks(&peer, at, pages, kib, alone);
		sharer_writes(&peer, at, pages, kib, alone);
	}
	before = snapshot(at, pages);
	split(at, pages, kib, way);
	expect_entries(before, at);
	peer_turn(&peer);
	pattern_write(at, pages * PAGE_SIZE, SEED_NEW);
	peer_turn(&peer);
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
	free(before);
}

/* Each process has what the other one wrote before the fork, and nothing since. */
QUIRE_CASE_SIZES(migrate, split_shared, LARGE_SIZES)
{
	for_each_way(way, kib)
		for_each_mask(mask)
			check_shared(kib, way, mask);
}

static void check_part(unsigned long kib, const struct mask *mask,
		       const struct part *part)
{
	size_t pages = range_pages(kib);

	for_each_way(way, kib) {
		char *at = range_by_ptes(kib);

		if (way->around)
			split_around(at, pages, kib);
		part_give(at, pages, kib, mask, part);
		if (!way->around)
			split_no_check(at, pages, kib, way);
		expect_part(at, pages, kib, mask, part);
		range_drop(at, pages);
	}
}

static size_t mlocked(char *at, size_t pages)
{
	size_t n, count = 0;

	for (n = 0; n < pages; n++)
		count += !!(kpage_flags(pagemap_page(page_at(at, n)).pfn) &
			    KPF_MLOCKED);
	return count;
}

/*
 * Pages that are locked into memory stay so until munlock(). Folios that are still
 * large are counted again only when reclaim meets them.
 */
QUIRE_CASE_SIZES(migrate, split_mlocked, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct snapshot *before = snapshot(at, pages);

	if (mlock(at, pages * PAGE_SIZE))
		die_errno("mlock");
	split(at, pages, kib, &ways[0]);
	expect_entries(before, at);
	EXPECT_EQ(mlocked(at, pages), pages);
	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock");
	EXPECT_EQ(mlocked(at, pages), 0);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
	free(before);
}

/* Some of each folio is in another mapping, or gone, before or after the split. */
QUIRE_CASE_FULL(migrate, split_part, 60000, KTAP_SIZES(16, 64))
{
	for_each_part(kib, check_part);
}

/* Each folio is in two page tables. */
QUIRE_CASE_SIZES(migrate, split_two_tables, LARGE_SIZES)
{
	size_t pages = range_pages(kib), low = folio_pages(kib) / 4;
	char *to = pmd_at(DST_BASE, 1) - low * PAGE_SIZE;

	for_each_way(way, kib) {
		char *at = range_by_ptes(kib);
		struct snapshot *before = snapshot(at, pages);
		unsigned long splits = mthp_stat(kib, "split");

		range_hole(to, pages);
		move(at, pages, to);
		split_no_check(to, pages, kib, way);
		EXPECT_EQ(mthp_stat(kib, "split") - splits,
			  pages / folio_pages(kib));
		EXPECT_EQ(snapshot_moved(before, to, kib, MASK_ALL), 0);
		expect_content(to, pages, SEED, 0);
		expect_writable(to, pages);
		range_drop(to, pages);
		range_drop(at, pages);
		free(before);
	}
}

static void check_zeroes(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct snapshot *before;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			memset(page_at(at, n), 0, PAGE_SIZE);
	}
	before = snapshot(at, pages);
	split(at, pages, kib, &ways[0]);
	for (n = 0; n < pages; n++) {
		bool zero = masked(mask, n, kib);
		struct page_state now = pagemap_page(page_at(at, n));
		bool zero_page = kpage_flags(now.pfn) & KPF_ZERO_PAGE;

		EXPECT(zero_page == zero,
		       "%s pages are zero: page %zu is %sthe zero page",
		       mask->name, n, zero ? "not " : "");
		EXPECT(zero || now.pfn == before->page[n].pfn,
		       "page %zu has another frame", n);
		if (zero)
			expect_zero(page_at(at, n), 1);
		else
			expect_content(page_at(at, n), 1, SEED, n);
	}
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

/* Pages of zeroes become the zero page, and their neighbours do not. */
QUIRE_CASE_SIZES(migrate, split_zeroes, LARGE_SIZES)
{
	for_each_mask(mask)
		check_zeroes(kib, mask);
}
