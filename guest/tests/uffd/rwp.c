// SPDX-License-Identifier: GPL-2.0
/*
 * Protection against any access (RWP): each access to a protected page is stopped,
 * and none to another page, whatever maps them.
 */
#include <signal.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/uffd.h"
#include "memory/expect.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "run/ktap.h"

/* Without a handler, an access raises SIGBUS. */
#define FEATURES	(UFFD_FEATURE_RWP | UFFD_FEATURE_SIGBUS)

/* One call protects all pages from `first` on. */
static void check_stops(char *at, size_t pages, size_t first)
{
	int uffd = uffd_open_or_skip(FEATURES);
	uint64_t word;
	size_t n;

	uffd_register(uffd, at, pages * PAGE_SIZE, UFFDIO_REGISTER_MODE_RWP);
	uffd_rwprotect(uffd, page_at(at, first), (pages - first) * PAGE_SIZE,
		       true);
	probe_init();
	for (n = 0; n < pages; n++)
		EXPECT(probe_read(page_at(at, n), &word) ==
		       (n < first ? 0 : SIGBUS),
		       "protected from page %zu on: page %zu is %s", first, n,
		       n < first ? "not accessible" : "accessible");
	uffd_rwprotect(uffd, at, pages * PAGE_SIZE, false);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	close(uffd);
}

QUIRE_CASE_SIZES(uffd, rwp_stops, ALL_SIZES)
{
	const size_t first[] = { 0, 1, BLOCK - 1 };
	size_t i, pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		for (i = 0; i < ARRAY_SIZE(first); i++) {
			char *at = by_pte ? range_by_ptes(kib) :
				   range_filled(SRC_BASE, pages, kib);

			check_stops(at, pages, first[i]);
			range_drop(at, pages);
		}
	}
}
