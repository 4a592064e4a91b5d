// SPDX-License-Identifier: GPL-2.0
/*
 * UFFDIO_MOVE of folios: each page arrives with its contents, the source is
 * empty afterwards, and the rmap finds the pages at their new addresses. The
 * move ends at the first page that cannot move, whatever folio it is in.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/pin.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "kernel/wp.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/hold.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "memory/share.h"
#include "process/map.h"
#include "proc/proc.h"
#include "report/die.h"
#include "run/ktap.h"
#include "tests/lazyfree/lazyfree.h"

/*
 * Memory with no page, to which pages can be moved. target_with(): with these
 * features, and registered for these modes, too.
 */
static int target_with(uint64_t features, uint64_t modes, char *to, size_t pages)
{
	int uffd = uffd_open_or_skip(UFFD_FEATURE_MOVE | features);

	range_hole(to, pages);
	map_anon(to, pages * PAGE_SIZE);
	uffd_register(uffd, to, pages * PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING | modes);
	return uffd;
}

static int target(char *to, size_t pages)
{
	return target_with(0, 0, to, pages);
}

static void end(int uffd, char *to, char *from, size_t pages)
{
	close(uffd);
	range_drop(to, pages);
	range_drop(from, pages);
}

/* Nothing is left at the source; the TLB of this CPU has no entry of it either. */
static void expect_left(char *from, size_t pages)
{
	EXPECT_EQ(pagemap_present(from, pages), 0);
	EXPECT_EQ(pagemap_swapped(from, pages), 0);
	expect_zero(from, pages);
}

static void expect_soft_dirty(char *at, size_t pages)
{
	size_t n;

	for (n = 0; pagemap_has_soft_dirty() && n < pages; n++)
		EXPECT(pagemap_page(page_at(at, n)).soft_dirty,
		       "page %zu is not soft-dirty", n);
}

/* `lead` pages move by themselves, then those of whole folios, then the rest. */
static void check_moved(unsigned long kib, char *to, size_t lead)
{
	size_t pages = range_pages(kib), rest = pages - lead;
	char *at = range_by_ptes(kib);
	int uffd = target(to, pages);

	pagemap_clear_soft_dirty();
	expect_content(at, pages, SEED, 0);
	EXPECT_EQ(uffd_move(uffd, page_at(to, lead), page_at(at, lead),
			    rest * PAGE_SIZE), rest * PAGE_SIZE);
	expect_left(page_at(at, lead), rest);
	expect_content(page_at(to, lead), rest, SEED, lead);
	expect_soft_dirty(page_at(to, lead), rest);
	if (lead)
		EXPECT_EQ(uffd_move(uffd, to, at, lead * PAGE_SIZE),
			  lead * PAGE_SIZE);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	end(uffd, to, at, pages);
}

QUIRE_CASE_SIZES(uffd, moved, ALL_SIZES)
{
	check_moved(kib, DST_BASE, 0);
}

QUIRE_CASE_SIZES(uffd, moved_unaligned, LARGE_SIZES)
{
	check_moved(kib, page_at(DST_BASE, 1), 0);
	check_moved(kib, page_at(DST_BASE, PMD_PAGES - folio_pages(kib) / 2), 0);
}

QUIRE_CASE_SIZES(uffd, moved_in_parts, LARGE_SIZES)
{
	check_moved(kib, DST_BASE, 1);
	check_moved(kib, DST_BASE, folio_pages(kib) / 2);
	check_moved(kib, DST_BASE, folio_pages(kib) + 1);
}

/*
 * The target ends where the source begins, or within it. Up to 256 KiB, both are
 * in one page table.
 */
static void check_near(unsigned long kib, size_t distance)
{
	size_t pages = range_pages(kib), lead = PMD_PAGES + pages;
	char *area = range_hole(SRC_BASE, lead + pages);
	char *at = page_at(area, lead), *to = at - distance * PAGE_SIZE;
	int uffd = uffd_open_or_skip(UFFD_FEATURE_MOVE);

	map_anon(area, (lead + pages) * PAGE_SIZE);
	range_fill(at, pages, kib, SEED);
	if (folio_pmd_mapped_kib(area))
		range_split_pmds(at, pages);
	uffd_register(uffd, area, (lead + pages) * PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING);
	EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
		  pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_present(to, pages), pages);
	EXPECT_EQ(pagemap_present(page_at(to, pages), distance), 0);
	expect_content(to, pages, SEED, 0);
	close(uffd);
	range_drop(area, lead + pages);
}

QUIRE_CASE_SIZES(uffd, moved_nearby, LARGE_SIZES)
{
	check_near(kib, 1);
	check_near(kib, folio_pages(kib) / 2);
	check_near(kib, range_pages(kib));
}

/* What protects pages of the source stays behind, whatever it covers. */
QUIRE_CASE_SIZES(uffd, moved_unprotected, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);
	char *at, *to = DST_BASE;
	int uffd, wp;

	for_each_mask(mask) {
		at = range_by_ptes(kib);
		wp = wp_protect(at, pages, kib, mask);
		uffd = target(to, pages);
		EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
			  pages * PAGE_SIZE);
		for (n = 0; n < pages; n++)
			EXPECT(!pagemap_page(page_at(to, n)).uffd_wp,
			       "page %zu is protected", n);
		expect_content(to, pages, SEED, 0);
		expect_writable(to, pages);
		close(wp);
		end(uffd, to, at, pages);
	}
}

/* Protection against any access comes with the target. */
QUIRE_CASE_SIZES(uffd, moved_rwp, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib), *to = DST_BASE;
	int uffd = target_with(UFFD_FEATURE_RWP | UFFD_FEATURE_RWP_ASYNC,
			       UFFDIO_REGISTER_MODE_RWP, to, pages);

	EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
		  pages * PAGE_SIZE);
	for (n = 0; n < pages; n++)
		EXPECT(pagemap_page(page_at(to, n)).uffd_wp,
		       "page %zu is not protected", n);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	end(uffd, to, at, pages);
}

/* Whole folios keep their frames and are not split. */
QUIRE_CASE_SIZES_TAGGED(uffd, moved_whole, SERIES, LARGE_SIZES)
{
	size_t total, pages = range_pages(kib);
	char *at = range_by_ptes(kib), *to = DST_BASE;
	int uffd = target(to, pages);
	unsigned long split = mthp_stat(kib, "split");
	struct snapshot *before = snapshot(at, pages);

	EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
		  pages * PAGE_SIZE);
	EXPECT_EQ(mthp_stat(kib, "split"), split);
	EXPECT_EQ(snapshot_moved(before, to, kib, MASK_ALL), 0);
	EXPECT_EQ(folio_count(to, pages * PAGE_SIZE, kib, &total), total);
	end(uffd, to, at, pages);
	free(before);
}

/* Moves all up to page `stop`, which says why it does not move. */
static void expect_stop(int uffd, char *to, char *at, size_t pages, size_t stop,
			int error)
{
	EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
		  stop ? (long)(stop * PAGE_SIZE) : -error);
	EXPECT_EQ(pagemap_present(to, stop), stop);
	expect_content(to, stop, SEED, 0);
}

/* Pages that a child shares do not move. */
QUIRE_CASE_SIZES(uffd, shared_stays, ALL_SIZES)
{
	size_t stop, pages = range_pages(kib);
	struct peer peer;
	char *at;
	int uffd;

	for_each_mask(mask) {
		at = range_by_ptes(kib);
		uffd = target(DST_BASE, pages);
		if (!fork_without(&peer, at, pages, kib, mask)) {
			sharer_looks(&peer, at, pages, kib, mask);
			exit(0);
		}
		for (stop = 0; stop < pages && masked(mask, stop, kib); stop++)
			;
		expect_stop(uffd, DST_BASE, at, pages, stop, EBUSY);
		expect_content(page_at(at, stop), pages - stop, SEED, stop);
		if (stop)
			expect_writable(DST_BASE, stop);
		peer_turn(&peer);
		peer_join(&peer, "the child that shares some pages");
		end(uffd, DST_BASE, at, pages);
	}
}

/* Where a page is mapped already, none is replaced. */
QUIRE_CASE_SIZES(uffd, occupied_stays, ALL_SIZES)
{
	size_t stop, pages = range_pages(kib);
	char *at, *taken;
	int uffd;

	for_each_mask(mask) {
		at = range_by_ptes(kib);
		uffd = uffd_open_or_skip(UFFD_FEATURE_MOVE);
		range_hole(DST_BASE, pages);
		map_anon(DST_BASE, pages * PAGE_SIZE);
		stop = mask_first(mask, kib);
		taken = page_at(DST_BASE, stop);
		pattern_write_page(taken, SEED_NEW, 0);
		uffd_register(uffd, DST_BASE, pages * PAGE_SIZE,
			      UFFDIO_REGISTER_MODE_MISSING);
		expect_stop(uffd, DST_BASE, at, pages, stop, EEXIST);
		expect_content(taken, 1, SEED_NEW, 0);
		expect_content(page_at(at, stop), pages - stop, SEED, stop);
		end(uffd, DST_BASE, at, pages);
	}
}

/* A page that is missing ends the move. */
QUIRE_CASE_SIZES(uffd, missing_ends, ALL_SIZES)
{
	size_t stop, pages = range_pages(kib);
	char *at;
	int uffd;

	for_each_mask(mask) {
		at = range_by_ptes(kib);
		uffd = target(DST_BASE, pages);
		stop = mask_first(mask, kib);
		if (madvise(page_at(at, stop), PAGE_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED of page %zu", stop);
		expect_stop(uffd, DST_BASE, at, pages, stop, ENOENT);
		expect_content(page_at(at, stop + 1), pages - stop - 1, SEED,
			       stop + 1);
		end(uffd, DST_BASE, at, pages);
	}
}

/*
 * A page that the kernel writes to or reads from stays where it is. Before 7.3,
 * the kernel tries to split its folio until the process is killed.
 */
QUIRE_CASE_FULL(uffd, pinned_stays, 2000, KTAP_SIZES(LARGE_SIZES))
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	int uffd = target(DST_BASE, pages);
	struct pin *pin = pin_folios(at, pages, kib, folio_pages(kib) - 1);
	struct snapshot *before = snapshot(at, pages);

	expect_stop(uffd, DST_BASE, at, pages, 0, EBUSY);
	expect_entries(before, at);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	pin_end(pin);
	end(uffd, DST_BASE, at, pages);
	free(before);
}

/* Reclaim finds the pages at their new addresses, through the rmap. */
QUIRE_CASE_SIZES(uffd, moved_swaps_out, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib), *to = page_at(DST_BASE, 3);
	int uffd = target(to, pages);

	swap_on(SWAP_MIB);
	EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
		  pages * PAGE_SIZE);
	page_out(to, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(to, pages), pages);
	expect_content(to, pages, SEED, 0);
	end(uffd, to, at, pages);
}

/*
 * Pages in swap move while their folio is in the swap cache, also if it is still
 * written, or if only some of its pages move; and reclaim finds them there. The
 * folio has been moved before, or not.
 */
static void check_swap_cached(unsigned long kib, bool moved, size_t lead,
			      unsigned long write_ms)
{
	size_t pages = range_pages(kib), rest = pages - lead;
	char *at = range_by_ptes(kib), *from = moved ? DST2_BASE : at;
	int uffd, first = -1;
	long bytes;

	swap_on_block_slow(SWAP_MIB, write_ms);
	if (moved) {
		first = target(from, pages);
		EXPECT_EQ(uffd_move(first, from, at, pages * PAGE_SIZE),
			  pages * PAGE_SIZE);
	}
	uffd = target(DST_BASE, pages);
	page_out(from, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(from, pages), pages);
	bytes = uffd_move(uffd, page_at(DST_BASE, lead), page_at(from, lead),
			  rest * PAGE_SIZE);
	ASSERT(bytes == (long)(rest * PAGE_SIZE), "%ld bytes moved", bytes);
	EXPECT_EQ(pagemap_swapped(page_at(DST_BASE, lead), rest), rest);
	if (lead)
		EXPECT_EQ(uffd_move(uffd, DST_BASE, from, lead * PAGE_SIZE),
			  lead * PAGE_SIZE);
	expect_content(DST_BASE, pages, SEED, 0);
	/* Pages that are still written stay. */
	usleep(2000 * write_ms);
	page_out(DST_BASE, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(DST_BASE, pages), pages);
	expect_content(DST_BASE, pages, SEED, 0);
	expect_writable(DST_BASE, pages);
	if (moved) {
		close(first);
		range_drop(from, pages);
	}
	end(uffd, DST_BASE, at, pages);
	swap_reset();
}

QUIRE_CASE_SIZES_TAGGED(uffd, swap_cached_moves, FIXES, ALL_SIZES)
{
	check_swap_cached(kib, false, 0, 0);
	check_swap_cached(kib, false, 1, 0);
	check_swap_cached(kib, false, 0, 50);
}

QUIRE_CASE_SIZES(uffd, swap_cached_moves_again, ALL_SIZES)
{
	check_swap_cached(kib, true, 0, 0);
	check_swap_cached(kib, true, 1, 0);
	check_swap_cached(kib, true, 0, 50);
}

/*
 * A page to which something else has a reference, but no pin, moves with its
 * folio, or ends the move: the kernel does not try for ever to split the folio.
 */
QUIRE_CASE_FULL(uffd, held_ends, 2000, .tag = FIXES, KTAP_SIZES(LARGE_SIZES))
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	int uffd = target(DST_BASE, pages);
	struct hold hold = hold_folios(at, pages, kib, folio_pages(kib) - 1);
	long moved = uffd_move(uffd, DST_BASE, at, pages * PAGE_SIZE);

	if (moved == -EBUSY)
		moved = 0;
	EXPECT(!moved || moved == (long)(pages * PAGE_SIZE),
	       "%ld bytes moved", moved);
	expect_content(moved ? DST_BASE : at, pages, SEED, 0);
	expect_writable(moved ? DST_BASE : at, pages);
	hold_end(&hold);
	end(uffd, DST_BASE, at, pages);
}

/* What is written after MADV_FREE is not lost after the move. */
QUIRE_CASE_SIZES(uffd, moved_lazyfree_written_kept, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *at, *to = DST_BASE;
	int uffd;

	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		at = range_by_ptes(kib);
		uffd = target(to, pages);
		lazy_free(at, pages);
		lazy_rewrite(at, pages, kib, mask);
		EXPECT_EQ(uffd_move(uffd, to, at, pages * PAGE_SIZE),
			  pages * PAGE_SIZE);
		/* Pages that were dropped are read as zeroes from now on. */
		uffd_unregister(uffd, to, pages * PAGE_SIZE);
		page_out(to, pages * PAGE_SIZE);
		expect_survivors(to, pages, kib, mask);
		end(uffd, to, at, pages);
	}
}
