// SPDX-License-Identifier: GPL-2.0
/*
 * Write protection by userfaultfd on some pages of a folio. A userfaultfd with
 * UFFD_FEATURE_EVENT_REMAP follows its range and keeps all protection. Without
 * that feature it loses the range, and no protection may be left, nor any
 * against all accesses (RWP).
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/wp.h"
#include "mremap.h"
#include "proc/proc.h"

#define DST		page_at(DST_BASE, BLOCK)
#define FEATURES	(WP_FEATURES | UFFD_FEATURE_WP_UNPOPULATED)

static int protect(char *addr, size_t pages, uint64_t features,
		   const struct mask *mask)
{
	return wp_protect_with(features, addr, pages, BLOCK_KIB, mask);
}

/*
 * Whole page tables: these cannot be moved unchanged if bits must be cleared.
 */
QUIRE_CASE_SIZES(mremap, wp_dropped_whole_tables, ALL_SIZES)
{
	size_t pages = 2 * PMD_PAGES;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST_BASE, pages);
	int uffd = protect(from, pages, FEATURES, MASK_EVEN);
	struct snapshot *before = snapshot(from, pages);

	move(from, pages, to);
	expect_changed(before, to, MOVED | WP_DROPPED);
	expect_gone(from, pages);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	close(uffd);
	free(before);
}

/* Protected shared pages that are zapped leave markers. */
static void zap_every_third(char *addr, size_t pages)
{
	size_t n;

	for (n = 0; n < pages; n += 3)
		range_advise(page_at(addr, n), 1, MADV_DONTNEED);
}

QUIRE_CASE_SIZES(mremap, wp_markers_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_shared(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	int uffd = protect(from, pages, FEATURES, MASK_ALL);
	struct snapshot *before;

	zap_every_third(from, pages);
	before = snapshot(from, pages);
	EXPECT(before->page[0].uffd_wp && !before->page[0].present,
	       "zapping a protected shared page left no marker");
	move(from, pages, to);
	expect_changed(before, to, MOVED | WP_DROPPED);
	EXPECT_EQ(pagemap_swapped(to, pages), 0);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	close(uffd);
	free(before);
}

QUIRE_CASE_SIZES(mremap, wp_markers_kept, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_shared(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	int uffd = protect(from, pages, FEATURES | UFFD_FEATURE_EVENT_REMAP,
			   MASK_ALL);
	struct uffd_watch *watch = uffd_watch_start(uffd, to, pages);
	struct snapshot *before;

	zap_every_third(from, pages);
	before = snapshot(from, pages);
	move(from, pages, to);
	expect_changed(before, to, MOVED);
	expect_content(to, pages, SEED, 0);
	expect_watch_stopped(watch, to, pages, BLOCK_KIB, MASK_ALL);
	uffd_watch_end(watch);
	close(uffd);
	free(before);
}

/* A hint of NUMA balancing lets an access through, too, but takes a fault. */
static void move_rwp(char *from, size_t pages, char *to, const struct mask *mask)
{
	int uffd = uffd_open_or_skip(UFFD_FEATURE_RWP);
	unsigned long hints = vmstat("numa_hint_faults");
	size_t n = 0, run;

	uffd_register(uffd, from, pages * PAGE_SIZE, UFFDIO_REGISTER_MODE_RWP);
	for (; (run = mask_run(mask, &n, pages, BLOCK_KIB)); n += run)
		uffd_rwprotect(uffd, page_at(from, n), run * PAGE_SIZE, true);
	move(from, pages, to);
	expect_gone(from, pages);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	EXPECT_EQ(vmstat("numa_hint_faults"), hints);
	close(uffd);
}

QUIRE_CASE_SIZES(mremap, rwp_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(page_at(DST, mask - masks), pages);

		move_rwp(from, pages, to, mask);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}
