// SPDX-License-Identifier: GPL-2.0
/*
 * Write protection by userfaultfd on some pages of a lazily freed folio. A
 * reclaim that fails must neither remove it nor apply it to other pages.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/wp.h"
#include "lazyfree.h"
#include "memory/share.h"

static void check_held(unsigned long kib, const struct mask *mask, bool alike)
{
	size_t kept, pages = range_pages(kib);
	char *at = lazy_range(kib, true);
	struct snapshot *before;
	struct hold hold;
	int uffd;

	if (alike)
		fork_and_forget();
	uffd = wp_protect(at, pages, kib, mask);
	hold = hold_folios(at, pages, kib, 0);
	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, BY_MEMCG);
	expect_entries(before, at);
	expect_content(at, kept, SEED, 0);
	hold_end(&hold);
	expect_wp_stopped(uffd, at, kept, kib, mask);
	close(uffd);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(lazyfree, wp_same, ALL_SIZES)
{
	for_each_mask(mask)
		check_held(kib, mask, false);
}

QUIRE_CASE_SIZES(lazyfree, wp_same_read_only, ALL_SIZES)
{
	for_each_mask(mask)
		check_held(kib, mask, true);
}

/* Redirtied before some pages, or the others, were protected. */
QUIRE_CASE_SIZES(lazyfree, wp_redirtied, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		const struct mask *written = mask_opposite(mask);
		char *at = lazy_range(kib, true);
		struct snapshot *before;
		int uffd;

		lazy_rewrite(at, pages, kib, written);
		uffd = wp_protect(at, pages, kib, mask);
		before = snapshot(at, pages);
		reclaim(at, pages, BY_MEMCG);
		expect_entries_or_dropped(before, at, kib, written);
		expect_survivors(at, pages, kib, written);
		close(uffd);
		range_drop(at, pages);
		free(before);
	}
}

/* Clean protected pages are dropped as any others, in several batches. */
QUIRE_CASE_SIZES(lazyfree, wp_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = lazy_range(kib, true);
		int uffd = wp_protect(at, pages, kib, mask);

		reclaim(at, pages, BY_MEMCG);
		EXPECT_EQ(pagemap_present(at, pages), 0);
		close(uffd);
		expect_dropped(at, pages);
		range_drop(at, pages);
	}
}
