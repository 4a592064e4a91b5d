// SPDX-License-Identifier: GPL-2.0
/*
 * PAGEMAP_SCAN that reports the pages written to since the last scan and
 * write-protects them: each page is reported once for each time it was written
 * to, and none outside the scanned range, or beyond what was asked for, is
 * protected.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "memory/pattern.h"
#include "report/die.h"
#include "tests/lazyfree/lazyfree.h"

#define MAX_REGIONS	(2 * PMD_PAGES)

struct scan {
	int uffd, pagemap;
	char *at;
	size_t pages;
	bool *written;	/* since the last scan */
};

static struct scan scan_start(unsigned long kib)
{
	struct scan scan = {
		.at = range_by_ptes(kib),
		.pages = range_pages(kib),
		.uffd = uffd_open_or_skip(UFFD_FEATURE_WP_ASYNC |
					  UFFD_FEATURE_WP_UNPOPULATED),
		.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
	};

	if (scan.pagemap < 0)
		die_errno("cannot open /proc/self/pagemap");
	uffd_register_wp(scan.uffd, scan.at, scan.pages * PAGE_SIZE);
	scan.written = allocate(scan.pages, 1);
	memset(scan.written, true, scan.pages);
	return scan;
}

static void scan_end(struct scan *scan)
{
	free(scan->written);
	close(scan->pagemap);
	close(scan->uffd);
	range_drop(scan->at, scan->pages);
}

static void scan_write(struct scan *scan, unsigned long kib,
		       const struct mask *mask)
{
	size_t n;

	lazy_rewrite(scan->at, scan->pages, kib, mask);
	for (n = 0; n < scan->pages; n++)
		scan->written[n] |= masked(mask, n, kib);
}

/* What protects a page shows in pagemap; a page that was written to has lost it. */
static void expect_protected(const struct scan *scan)
{
	size_t n;

	for (n = 0; n < scan->pages; n++)
		EXPECT(pagemap_page(page_at(scan->at, n)).uffd_wp !=
		       scan->written[n], "page %zu is %sprotected", n,
		       scan->written[n] ? "" : "not ");
}

/* Which loop of the kernel scans: the one for writes alone, or that for all. */
static const uint64_t returns[] = {
	PAGE_IS_WRITTEN, PAGE_IS_WRITTEN | PAGE_IS_PRESENT,
};

#define for_each_return(mask)						\
	for (const uint64_t *mask = returns;				\
	     mask < returns + ARRAY_SIZE(returns); mask++)

static struct pm_scan_arg scan_arg(const struct scan *scan, size_t first,
				   size_t nr)
{
	return (struct pm_scan_arg){
		.size = sizeof(struct pm_scan_arg),
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.start = (uintptr_t)page_at(scan->at, first),
		.end = (uintptr_t)page_at(scan->at, first + nr),
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};
}

static size_t scan_call(const struct scan *scan, struct pm_scan_arg *arg)
{
	int filled = ioctl(scan->pagemap, PAGEMAP_SCAN, arg);

	if (filled < 0)
		die_errno("PAGEMAP_SCAN of %llu KiB",
			  (arg->end - arg->start) / KIB);
	return filled;
}

/*
 * Scans pages [first, first + nr), for at most `most` pages that were written to
 * (0: all) in at most `room` regions, and protects those. Returns how many there
 * were. They are the first: the scan ends behind them, or at the end.
 */
static size_t scan_some(struct scan *scan, uint64_t mask, size_t first, size_t nr,
			size_t most, size_t room)
{
	static struct page_region regions[2 * MOST_PMD_PAGES];
	struct pm_scan_arg arg = scan_arg(scan, first, nr);
	size_t n, r, filled, stop, found = 0;

	arg.return_mask = mask;
	arg.max_pages = most;
	arg.vec = (uintptr_t)regions;
	arg.vec_len = room;
	filled = scan_call(scan, &arg);
	for (r = 0; r < filled; r++) {
		n = (regions[r].start - (uintptr_t)scan->at) / PAGE_SIZE;
		EXPECT_EQ(regions[r].categories, mask);
		for (; page_at(scan->at, n) < (char *)(uintptr_t)regions[r].end; n++, found++) {
			ASSERT(n >= first && n < first + nr,
			       "page %zu is reported", n);
			EXPECT(scan->written[n], "page %zu is reported", n);
			scan->written[n] = false;
		}
	}
	stop = (arg.walk_end - (uintptr_t)scan->at) / PAGE_SIZE;
	ASSERT(stop >= first && stop <= first + nr, "the scan ends at %zu", stop);
	for (n = first; n < stop; n++)
		EXPECT(!scan->written[n], "page %zu is not reported", n);
	expect_protected(scan);
	return found;
}

static void scan_all(struct scan *scan, uint64_t mask, size_t first, size_t nr)
{
	size_t n;

	scan_some(scan, mask, first, nr, 0, MAX_REGIONS);
	for (n = first; n < first + nr; n++)
		EXPECT(!scan->written[n], "page %zu is not reported", n);
}

/* The same without a report. */
static void scan_quietly(struct scan *scan, size_t first, size_t nr)
{
	struct pm_scan_arg arg = scan_arg(scan, first, nr);

	scan_call(scan, &arg);
	memset(scan->written + first, false, nr);
	expect_protected(scan);
}

QUIRE_CASE_SIZES(uffd, scan_reports_written, ALL_SIZES)
{
	for_each_return(what) for_each_mask(mask) {
		struct scan scan = scan_start(kib);

		scan_all(&scan, *what, 0, scan.pages);
		scan_write(&scan, kib, mask);
		expect_protected(&scan);
		scan_all(&scan, *what, 0, scan.pages);
		scan_all(&scan, *what, 0, scan.pages);
		scan_end(&scan);
	}
}

/* Ranges that begin and end within folios, and within contpte blocks. */
QUIRE_CASE_SIZES(uffd, scan_stays_inside, ALL_SIZES)
{
	for_each_return(what) for (size_t lead = 1; lead < 2 * BLOCK; lead += BLOCK / 2) {
		struct scan scan = scan_start(kib);
		size_t nr = scan.pages - 2 * lead;

		scan_all(&scan, *what, lead, nr);
		scan_quietly(&scan, 0, scan.pages);
		scan_write(&scan, kib, MASK_ALL);
		scan_quietly(&scan, lead, nr);
		scan_end(&scan);
	}
}

/* No more pages than asked for are protected. */
QUIRE_CASE_SIZES(uffd, scan_takes_no_more, ALL_SIZES)
{
	for_each_return(what) for (size_t most = 1; most < 2 * BLOCK; most += BLOCK / 2) {
		struct scan scan = scan_start(kib);

		EXPECT_EQ(scan_some(&scan, *what, 0, scan.pages, most, MAX_REGIONS),
			  most);
		EXPECT_EQ(scan_some(&scan, *what, 0, scan.pages, most + 1,
				    MAX_REGIONS), most + 1);
		scan_all(&scan, *what, 0, scan.pages);
		scan_end(&scan);
	}
}

/* Nor are pages of which there is no room to tell. */
QUIRE_CASE_SIZES(uffd, scan_fills_room, ALL_SIZES)
{
	for_each_return(what) {
		struct scan scan = scan_start(kib);
		size_t n, found;

		scan_quietly(&scan, 0, scan.pages);
		for (n = 0; n < scan.pages; n++) {
			if (n / BLOCK % 2)
				continue;
			pattern_write_page(page_at(scan.at, n), SEED_NEW, n);
			scan.written[n] = true;
		}
		for (n = 0; n < scan.pages; n += 2 * BLOCK) {
			found = scan_some(&scan, *what, 0, scan.pages, 0, 1);
			EXPECT_EQ(found, BLOCK);
		}
		scan_all(&scan, *what, 0, scan.pages);
		scan_end(&scan);
	}
}

/* A scan that only looks: which pages are mapped, within a range and a limit. */
QUIRE_CASE_SIZES(uffd, scan_looks, ALL_SIZES)
{
	for (size_t lead = 0; lead < 2 * BLOCK; lead += BLOCK / 2 + 1) {
		struct scan scan = scan_start(kib);
		struct page_region region = {};
		struct pm_scan_arg arg = scan_arg(&scan, lead, scan.pages - lead);

		arg.flags = 0;
		arg.category_mask = PAGE_IS_PRESENT;
		arg.return_mask = PAGE_IS_PRESENT;
		arg.max_pages = BLOCK + 3;
		arg.vec = (uintptr_t)&region;
		arg.vec_len = 1;
		EXPECT_EQ(scan_call(&scan, &arg), 1);
		EXPECT_EQ(region.start, arg.start);
		EXPECT_EQ(region.end, arg.start + (BLOCK + 3) * PAGE_SIZE);
		EXPECT_EQ(arg.walk_end, region.end);
		expect_protected(&scan);
		scan_end(&scan);
	}
}

/* What was written after MADV_FREE stays dirty when it is protected. */
QUIRE_CASE_SIZES(uffd, scan_keeps_dirty, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		struct scan scan = scan_start(kib);

		lazy_free(scan.at, scan.pages);
		scan_write(&scan, kib, mask);
		scan_all(&scan, PAGE_IS_WRITTEN, 0, scan.pages);
		page_out(scan.at, scan.pages * PAGE_SIZE);
		expect_survivors(scan.at, scan.pages, kib, mask);
		scan_end(&scan);
	}
}
