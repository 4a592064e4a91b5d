// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that are split while they are mapped: their entries become migration
 * entries, and all new folios are mapped again in one walk. Each page has its own
 * bits afterwards, in the folio that it belongs to now.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/folio.h"
#include "migrate.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "report/die.h"
#include "tests/matrix/operations.h"

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

static bool has_way(const struct trial *t)
{
	return way_fits(&ways[t->way], t->kib);
}

static void act(struct trial *t)
{
	unsigned long splits = mthp_stat(t->kib, "split");

	if (t->state == &across)
		split_no_check(t->at, t->pages, t->kib, &ways[t->way]);
	else
		split(t->at, t->pages, t->kib, &ways[t->way]);
	EXPECT_EQ(mthp_stat(t->kib, "split") - splits,
		  t->pages / folio_pages(t->kib));
}

const struct operation splitting = {
	.ground = &plain, .act = act,
	.ways = ARRAY_SIZE(ways), .has_way = has_way,
};

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
TRIAL_CASE(migrate, split_mlocked, plain, 0, LARGE_SIZES)
{
	t->before = snapshot(t->at, t->pages);

	if (mlock(t->at, t->pages * PAGE_SIZE))
		die_errno("mlock");
	split(t->at, t->pages, t->kib, &ways[0]);
	expect_entries(t->before, t->at);
	EXPECT_EQ(mlocked(t->at, t->pages), t->pages);
	range_unlock(t->at, t->pages);
	EXPECT_EQ(mlocked(t->at, t->pages), 0);
	expect_content(t->at, t->pages, SEED, 0);
}

/* Some of each folio is in another mapping, or gone, before or after the split. */
QUIRE_CASE_FULL(migrate, split_part, 60000, KTAP_SIZES(16, 64))
{
	for_each_part(kib, check_part);
}

/* Pages of zeroes become the zero page, and their neighbours do not. */
TRIAL_CASE(migrate, split_zeroes, plain, MASKS, LARGE_SIZES)
{
	size_t n;

	for (n = 0; n < t->pages; n++) {
		if (masked(t->mask, n, t->kib))
			memset(page_at(t->at, n), 0, PAGE_SIZE);
	}
	t->before = snapshot(t->at, t->pages);
	split(t->at, t->pages, t->kib, &ways[0]);
	for (n = 0; n < t->pages; n++) {
		bool zero = masked(t->mask, n, t->kib);
		struct page_state now = pagemap_page(page_at(t->at, n));
		bool zero_page = kpage_flags(now.pfn) & KPF_ZERO_PAGE;

		EXPECT(zero_page == zero,
		       "%s pages are zero: page %zu is %sthe zero page",
		       t->mask->name, n, zero ? "not " : "");
		EXPECT(zero || now.pfn == t->before->page[n].pfn,
		       "page %zu has another frame", n);
		if (zero)
			expect_zero(page_at(t->at, n), 1);
		else
			expect_content(page_at(t->at, n), 1, SEED, n);
	}
	expect_writable(t->at, t->pages);
}
