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
#include "kernel/swap.h"
#include "kernel/uffd_watch.h"
#include "kernel/wp.h"
#include "mremap.h"
#include "proc/proc.h"
#include "process/peer.h"

#define SWAP_MIB	(64 * PAGE_SCALE)
#define DST		page_at(DST_BASE, BLOCK)
#define FEATURES	(WP_FEATURES | UFFD_FEATURE_WP_UNPOPULATED)

static int protect(char *addr, size_t pages, uint64_t features,
		   const struct mask *mask)
{
	return wp_protect_with(features, addr, pages, BLOCK_KIB, mask);
}

static void expect_stopped(struct uffd_watch *watch, char *addr, size_t pages,
			   const struct mask *mask)
{
	expect_watch_stopped(watch, addr, pages, BLOCK_KIB, mask);
}

static void move_watched(char *from, size_t pages, char *to,
			 const struct mask *mask)
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

/* The VMA at the new place is an ordinary one: nothing there stops writes. */
static void move_unwatched(char *from, size_t pages, char *to,
			   const struct mask *mask)
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

typedef void check_fn(char *from, size_t pages, char *to,
		      const struct mask *mask);

/* shifted: to places that are aligned differently for each mask. */
static void each_mask(unsigned long kib, size_t pages, bool shifted,
		      check_fn *check)
{
	for_each_mask(mask) {
		size_t shift = shifted ? mask - masks : 0;
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(page_at(DST, shift), pages);

		check(from, pages, to, mask);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

QUIRE_CASE_SIZES(mremap, wp_kept, ALL_SIZES)
{
	each_mask(kib, range_pages(kib), true, move_watched);
}

static void move_watched_shared(char *from, size_t pages, char *to,
				const struct mask *mask)
{
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_content(from, pages, SEED, 0);
		peer_end(&peer);
	}
	move_watched(from, pages, to, mask);
	peer_turn(&peer);
	peer_join(&peer, "the child of a protected range");
}

/*
 * After a fork no PTE is writable, protected by the userfaultfd or not. Then
 * only the protection itself tells them apart.
 */
QUIRE_CASE_SIZES(mremap, wp_kept_after_fork, ALL_SIZES)
{
	each_mask(kib, range_pages(kib), true, move_watched_shared);
}

static void drop_protection(char *from, size_t pages, char *to,
			    const struct mask *mask)
{
	move_unwatched(from, pages, to, mask);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

QUIRE_CASE_SIZES(mremap, wp_dropped, ALL_SIZES)
{
	each_mask(kib, range_pages(kib), true, drop_protection);
}

static void move_mixed_watched(char *from, size_t pages, char *to,
			       const struct mask *mask)
{
	mix_states(from, pages);
	move_watched(from, pages, to, mask);
}

/* Swap entries and markers of absent pages carry the protection, too. */
QUIRE_CASE_SIZES(mremap, wp_kept_mixed_states, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	each_mask(kib, mixed_pages(kib), false, move_mixed_watched);
}

static void drop_mixed_protection(char *from, size_t pages, char *to,
				  const struct mask *mask)
{
	mix_states(from, pages);
	move_unwatched(from, pages, to, mask);
	expect_mixed_content(to, pages);
	expect_writable(to, pages);
}

QUIRE_CASE_SIZES(mremap, wp_dropped_mixed_states, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	each_mask(kib, mixed_pages(kib), false, drop_mixed_protection);
}

/*
 * Whole page tables: these cannot be moved unchanged if bits must be cleared.
 */
QUIRE_CASE_SIZES(mremap, wp_dropped_whole_tables, ALL_SIZES)
{
	size_t pages = 2 * PMD_PAGES;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST_BASE, pages);

	drop_protection(from, pages, to, MASK_EVEN);
}

/* Protected shared pages that are zapped leave markers. */
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
	int uffd = protect(from, pages, FEATURES, MASK_ALL);
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
			   MASK_ALL);
	struct uffd_watch *watch = uffd_watch_start(uffd, to, pages);
	struct snapshot *before;

	zap_every_third(from, pages);
	before = snapshot(from, pages);
	move(from, pages, to);
	expect_moved(before, to, WP_KEPT);
	expect_content(to, pages, SEED, 0);
	expect_stopped(watch, to, pages, MASK_ALL);
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
	each_mask(kib, range_pages(kib), true, move_rwp);
}
