// SPDX-License-Identifier: GPL-2.0
/*
 * Write protection by userfaultfd on some pages of a lazily freed folio: a
 * reclaim that fails neither loses it nor spreads it.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "folio.h"
#include "lazyfree.h"
#include "pattern.h"
#include "uffd.h"
#include "uffd_watch.h"

/*
 * After a fork all entries are read-only, so that only the userfaultfd's bit
 * tells protected pages from others.
 */
static void share_with_nobody(void)
{
	pid_t pid = fork_child();

	if (!pid)
		exit(STATUS_OK);
	wait_child(pid, "a child that only ends");
}

static int protect(char *addr, size_t pages, unsigned long kib,
		   const struct mask *mask)
{
	int uffd = uffd_open(UFFD_FEATURE_PAGEFAULT_FLAG_WP);
	struct snapshot *now;
	size_t n;

	uffd_register_wp(uffd, addr, pages * PAGE_SIZE);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			uffd_writeprotect(uffd, page_at(addr, n), PAGE_SIZE,
					  true);
	}
	now = snapshot(addr, pages);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(now->page[n].uffd_wp, masked(mask, n, kib));
	free(now);
	return uffd;
}

/* Writes to pages in the mask are stopped, and no others. */
static void expect_stopped(int uffd, char *addr, size_t pages,
			   unsigned long kib, const struct mask *mask)
{
	struct uffd_watch *watch = uffd_watch_start(uffd, addr, pages);
	size_t n;

	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(addr, n), SEED_NEW, n);
	for (n = 0; n < pages; n++)
		EXPECT(uffd_watch_stopped(watch, n) == masked(mask, n, kib),
		       "page %zu (protected: %s): a write was %sstopped", n,
		       mask->name, uffd_watch_stopped(watch, n) ? "" : "not ");
	expect_content(addr, pages, SEED_NEW, 0);
	uffd_watch_end(watch);
}

static void check_held(unsigned long kib, const struct mask *mask, bool alike)
{
	size_t kept, pages = range_pages(kib);
	char *at = lazy_range(kib, true);
	struct snapshot *before;
	struct hold hold;
	int uffd;

	if (alike)
		share_with_nobody();
	uffd = protect(at, pages, kib, mask);
	hold = lazy_hold(at, pages, kib, 0);
	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	lazy_reclaim(at, pages, BY_MEMCG);
	expect_entries(before, at);
	expect_content(at, kept, SEED, 0);
	hold_end(&hold);
	expect_stopped(uffd, at, kept, kib, mask);
	close(uffd);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(lazyfree, wp_same, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < NR_MASKS; i++)
		check_held(kib, &lazy_masks[i], false);
}

QUIRE_CASE_SIZES(lazyfree, wp_same_read_only, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < NR_MASKS; i++)
		check_held(kib, &lazy_masks[i], true);
}

/* Redirtied before some pages, or the others, were protected. */
QUIRE_CASE_SIZES(lazyfree, wp_redirtied, ALL_SIZES)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i < NR_MASKS; i++) {
		const struct mask *written = &lazy_masks[NR_MASKS - 1 - i];
		char *at = lazy_range(kib, true);
		struct snapshot *before;
		int uffd;

		lazy_rewrite(at, pages, kib, written);
		uffd = protect(at, pages, kib, &lazy_masks[i]);
		before = snapshot(at, pages);
		lazy_reclaim(at, pages, BY_MEMCG);
		expect_entries_or_dropped(before, at, kib, written);
		expect_survivors(at, pages, kib, written);
		close(uffd);
		range_drop(at, pages);
		free(before);
	}
}

/* Clean and protected pages are dropped as any others, in several runs. */
QUIRE_CASE_SIZES(lazyfree, wp_dropped, ALL_SIZES)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i < NR_MASKS; i++) {
		char *at = lazy_range(kib, true);
		int uffd = protect(at, pages, kib, &lazy_masks[i]);

		lazy_reclaim(at, pages, BY_MEMCG);
		EXPECT_EQ(pagemap_present(at, pages), 0);
		close(uffd);
		expect_dropped(at, pages);
		range_drop(at, pages);
	}
}
