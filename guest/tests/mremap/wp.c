// SPDX-License-Identifier: GPL-2.0
/*
 * Write protection by userfaultfd, on some pages of a folio. A userfaultfd that
 * asked for UFFD_FEATURE_EVENT_REMAP follows its range, with all protection; one
 * that did not loses it, and nothing of its protection may stay behind.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "kernel/uffd_watch.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "proc/proc.h"
#include "process/peer.h"

#define SWAP_MIB	64
#define DST		page_at(DST_BASE, BLOCK)
#define FEATURES	(UFFD_FEATURE_PAGEFAULT_FLAG_WP |		\
			 UFFD_FEATURE_WP_UNPOPULATED |			\
			 UFFD_FEATURE_WP_HUGETLBFS_SHMEM)

/* Pages of each block that are protected: 'w'. */
static const char *const masks[] = {
	"wwwwwwwwwwwwwwww",
	"wwwwwwww........",
	"........wwwwwwww",
	"w.w.w.w.w.w.w.w.",
	".wwwwwwwwwwwwwww",
	"wwwwwwwwwwwwwww.",
	"......w.........",
};

static bool is_protected(const char *mask, size_t page)
{
	return mask[page % BLOCK] == 'w';
}

/* Returns a userfaultfd that protects some pages of the range. */
static int protect(char *addr, size_t pages, uint64_t features,
		   const char *mask)
{
	int uffd = uffd_open(features);
	struct snapshot *now;
	size_t n;

	uffd_register_wp(uffd, addr, pages * PAGE_SIZE);
	for (n = 0; n < pages; n++) {
		if (is_protected(mask, n))
			uffd_writeprotect(uffd, page_at(addr, n), PAGE_SIZE,
					  true);
	}
	now = snapshot(addr, pages);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(now->page[n].uffd_wp, is_protected(mask, n));
	free(now);
	return uffd;
}

/* Writes to protected pages are stopped, and only those. */
static void expect_stopped(struct uffd_watch *watch, char *addr, size_t pages,
			   const char *mask)
{
	size_t n;

	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(addr, n), SEED_NEW, n);
	for (n = 0; n < pages; n++)
		EXPECT(uffd_watch_stopped(watch, n) == is_protected(mask, n),
		       "page %zu, mask %s: a write was %sstopped", n, mask,
		       uffd_watch_stopped(watch, n) ? "" : "not ");
	expect_content(addr, pages, SEED_NEW, 0);
}

static void move_watched(char *from, size_t pages, char *to, const char *mask)
{
	int uffd = protect(from, pages, FEATURES | UFFD_FEATURE_EVENT_REMAP,
			   mask);
	struct uffd_watch *watch = uffd_watch_start(uffd, to, pages);
	struct snapshot *before = snapshot(from, pages);

	move(from, pages, to);
	expect_moved(before, to, WP_KEPT);
	expect_gone(from, pages);
	EXPECT(smaps_flag(to, "uw"), "the userfaultfd did not follow the move");
	EXPECT_EQ(uffd_watch_moves(watch), 1);
	EXPECT_EQ(uffd_watch_from(watch), (uintptr_t)from);
	EXPECT_EQ(uffd_watch_to(watch), (uintptr_t)to);
	EXPECT_EQ(uffd_watch_len(watch), pages * PAGE_SIZE);
	expect_stopped(watch, to, pages, mask);
	uffd_watch_end(watch);
	close(uffd);
	free(before);
}

/* The mapping at the new place is an ordinary one: nothing there stops writes. */
static void move_unwatched(char *from, size_t pages, char *to, const char *mask)
{
	int uffd = protect(from, pages, FEATURES, mask);
	struct snapshot *before = snapshot(from, pages);

	move(from, pages, to);
	expect_moved(before, to, WP_DROPPED);
	expect_gone(from, pages);
	EXPECT(!smaps_flag(to, "uw"), "the userfaultfd followed the move");
	close(uffd);
	free(before);
}

QUIRE_CASE_SIZES(mremap, wp_kept, ALL_SIZES)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(page_at(DST, i), pages);

		move_watched(from, pages, to, masks[i]);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

/*
 * After a fork no entry is writable, protected by the userfaultfd or not: then
 * nothing but the protection itself tells them apart.
 */
QUIRE_CASE_SIZES(mremap, wp_kept_after_fork, ALL_SIZES)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(page_at(DST, i), pages);
		struct peer peer;

		if (!peer_fork(&peer)) {
			peer_wait(&peer);
			expect_content(from, pages, SEED, 0);
			peer_end(&peer);
		}
		move_watched(from, pages, to, masks[i]);
		peer_turn(&peer);
		peer_join(&peer, "the child of a protected range");
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

QUIRE_CASE_SIZES(mremap, wp_dropped, ALL_SIZES)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(page_at(DST, i), pages);

		move_unwatched(from, pages, to, masks[i]);
		expect_content(to, pages, SEED, 0);
		expect_writable(to, pages);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

/* Swap entries and markers of absent pages carry the protection, too. */
QUIRE_CASE_SIZES(mremap, wp_kept_mixed_states, ALL_SIZES)
{
	size_t i, pages = mixed_pages(kib);

	swap_on(SWAP_MIB);
	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(DST, pages);

		mix_states(from, pages);
		move_watched(from, pages, to, masks[i]);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

QUIRE_CASE_SIZES(mremap, wp_dropped_mixed_states, ALL_SIZES)
{
	size_t i, pages = mixed_pages(kib);

	swap_on(SWAP_MIB);
	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(DST, pages);

		mix_states(from, pages);
		move_unwatched(from, pages, to, masks[i]);
		expect_mixed_content(to, pages);
		expect_writable(to, pages);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

/* Whole page tables: these cannot move as they are when bits must be dropped. */
QUIRE_CASE_SIZES(mremap, wp_dropped_whole_tables, ALL_SIZES)
{
	size_t pages = 2 * PMD_PAGES;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST_BASE, pages);

	move_unwatched(from, pages, to, masks[3]);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/* Protected shared pages that are zapped leave markers in their place. */
static void zap_every_third(char *addr, size_t pages)
{
	size_t n;

	for (n = 0; n < pages; n += 3) {
		if (madvise(page_at(addr, n), PAGE_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED of page %zu", n);
	}
}

QUIRE_CASE_SIZES(mremap, wp_markers_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_shared(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	int uffd = protect(from, pages, FEATURES, masks[0]);
	struct snapshot *before;

	zap_every_third(from, pages);
	before = snapshot(from, pages);
	EXPECT(before->page[0].uffd_wp && !before->page[0].present,
	       "zapping a protected shared page left no marker");
	move(from, pages, to);
	expect_moved(before, to, WP_DROPPED);
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
			   masks[0]);
	struct uffd_watch *watch = uffd_watch_start(uffd, to, pages);
	struct snapshot *before;

	zap_every_third(from, pages);
	before = snapshot(from, pages);
	move(from, pages, to);
	expect_moved(before, to, WP_KEPT);
	expect_content(to, pages, SEED, 0);
	expect_stopped(watch, to, pages, masks[0]);
	uffd_watch_end(watch);
	close(uffd);
	free(before);
}
