// SPDX-License-Identifier: GPL-2.0
/*
 * PAGEMAP_SCAN that reports the pages written to since the last scan and
 * write-protects them: each page is reported once for each time it was written
 * to, and none outside the scanned range, or beyond what was asked for, is
 * protected.
 */
#include <string.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/uffd.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "report/die.h"
#include "run/ktap.h"

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
	scan.written = malloc(scan.pages);
	if (!scan.written)
		die("out of memory");
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

	for (n = 0; n < scan->pages; n++) {
		if (!masked(mask, n, kib))
			continue;
		pattern_write_page(page_at(scan->at, n), SEED_NEW, n);
		scan->written[n] = true;
	}
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

/*
 * Scans pages [first, first + nr) for at most `most` pages that were written to
 * (0: all), and protects those. `quietly`: reports nothing.
 */
static void scan_range(struct scan *scan, size_t first, size_t nr, size_t most,
		       bool quietly)
{
	static struct page_region regions[MAX_REGIONS];
	char *from = page_at(scan->at, first);
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
		.start = (uintptr_t)from,
		.end = (uintptr_t)page_at(from, nr),
		.max_pages = most,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};
	size_t n, r, found = 0;
	int filled;

	if (!quietly) {
		arg.vec = (uintptr_t)regions;
		arg.vec_len = MAX_REGIONS;
	}
	filled = ioctl(scan->pagemap, PAGEMAP_SCAN, &arg);
	if (filled < 0)
		die_errno("PAGEMAP_SCAN of %zu pages", nr);
	for (r = 0; r < (size_t)filled; r++) {
		n = (regions[r].start - (uintptr_t)scan->at) / PAGE_SIZE;
		for (; page_at(scan->at, n) < (char *)regions[r].end; n++, found++) {
			EXPECT(scan->written[n], "page %zu is reported", n);
			scan->written[n] = false;
		}
	}
	for (n = first; n < first + nr && quietly; n++)
		scan->written[n] = false;
	for (n = first; n < first + nr && !most; n++)
		EXPECT(!scan->written[n], "page %zu is not reported", n);
	if (most)
		EXPECT_EQ(found, most);
	expect_protected(scan);
}

QUIRE_CASE_SIZES(uffd, scan_reports_written, ALL_SIZES)
{
	for_each_mask(mask) {
		struct scan scan = scan_start(kib);

		scan_range(&scan, 0, scan.pages, 0, false);
		scan_write(&scan, kib, mask);
		expect_protected(&scan);
		scan_range(&scan, 0, scan.pages, 0, false);
		scan_range(&scan, 0, scan.pages, 0, false);
		scan_end(&scan);
	}
}

/* Ranges that begin and end within folios, and within contpte blocks. */
QUIRE_CASE_SIZES(uffd, scan_stays_inside, ALL_SIZES)
{
	for (size_t lead = 1; lead < 2 * BLOCK; lead += BLOCK / 2) {
		struct scan scan = scan_start(kib);

		scan_range(&scan, lead, scan.pages - 2 * lead, 0, false);
		scan_range(&scan, 0, scan.pages, 0, true);
		scan_write(&scan, kib, MASK_EVEN);
		scan_range(&scan, lead, scan.pages - 2 * lead, 0, true);
		scan_end(&scan);
	}
}

/* No more pages than asked for are protected, either. */
QUIRE_CASE_SIZES(uffd, scan_takes_no_more, ALL_SIZES)
{
	for (size_t most = 1; most < 2 * BLOCK; most += BLOCK / 2) {
		struct scan scan = scan_start(kib);

		scan_range(&scan, 0, scan.pages, most, false);
		scan_range(&scan, 0, scan.pages, most + 1, false);
		scan_range(&scan, 0, scan.pages, 0, false);
		scan_end(&scan);
	}
}
