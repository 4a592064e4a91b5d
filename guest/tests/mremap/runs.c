// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of entries of each length and alignment, and runs with one entry of
 * another kind at each place. What each page must be after a move is defined
 * page by page (expect_moved()).
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "process/map.h"
#include "tests/lazyfree/lazyfree.h"

#define LONGEST		(2 * BLOCK + 1)
#define PAGES		(4 * BLOCK)	/* of the range, and of the holes */
#define STEP		(BLOCK / 16)	/* large blocks take long page by page */
#define START		5u		/* where runs with an odd entry begin */
#define WP		(WP_FEATURES | UFFD_FEATURE_WP_UNPOPULATED)

/* Offsets of destinations, in pages, relative to a block: number-th of NR_SHIFTS. */
static size_t shift(size_t number)
{
	const size_t pages[] = { START, 0, 1, BLOCK - 1, BLOCK + START };

	return pages[number];
}

#define NR_SHIFTS	5u

static void drop_page(char *page)
{
	range_advise(page, 1, MADV_DONTNEED);
}

static void there_and_back(char *from, size_t pages, char *to)
{
	struct snapshot *before = snapshot(from, pages);
	struct snapshot *next = snapshot(page_at(from, pages), 1);

	move(from, pages, to);
	expect_changed(before, to, MOVED);
	expect_entries(next, page_at(from, pages));
	move(to, pages, from);
	expect_changed(before, from, MOVED);
	free(next);
	free(before);
}

static void each_alignment(char *from, char *to, size_t pages)
{
	size_t s, d;

	for (s = 0; s < BLOCK; s += STEP) {
		if (s / STEP % 4 == 0)
			pagemap_clear_soft_dirty();
		for (d = 0; d < BLOCK; d += STEP)
			there_and_back(page_at(from, s), pages, page_at(to, d));
	}
}

static void each_length(char *from, char *to, size_t first, size_t step)
{
	size_t pages;

	for (pages = first; pages <= LONGEST; pages += step * STEP)
		each_alignment(from, to, pages);
	expect_content(from, PAGES, SEED, 0);
}

QUIRE_CASE_SIZES(mremap, runs_odd_lengths, 4, 64)
{
	each_length(range_filled(SRC_BASE, PAGES, kib),
		    range_hole(DST_BASE, PAGES), 1, 2);
}

QUIRE_CASE_SIZES(mremap, runs_even_lengths, 4, 64)
{
	each_length(range_filled(SRC_BASE, PAGES, kib),
		    range_hole(DST_BASE, PAGES), 2, 2);
}

QUIRE_CASE_SIZES(mremap, runs_shared_memory, 4, 64)
{
	each_length(range_shared(SRC_BASE, PAGES, kib),
		    range_hole(DST_BASE, PAGES), 7, 9);
}

QUIRE_CASE_SIZES(mremap, runs_swapped, 4, 64)
{
	char *from = range_filled(SRC_BASE, PAGES, kib);

	swap_on(SWAP_MIB);
	swap_out(from, PAGES);
	each_length(from, range_hole(DST_BASE, PAGES), 3, 7);
}

QUIRE_CASE_SIZES(mremap, runs_executable, 4, 64)
{
	char *from = range_filled(SRC_BASE, PAGES, kib);

	range_protect(from, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC);
	each_length(from, range_hole(DST_BASE, PAGES), 5, 9);
}

/* These entries are present, and the hardware does not see them so. */
QUIRE_CASE_SIZES(mremap, runs_inaccessible, 4, 64)
{
	char *from = range_filled(SRC_BASE, PAGES, kib);
	char *to = range_hole(DST_BASE, PAGES);

	range_protect(from, PAGES, PROT_NONE);
	each_alignment(from, to, LONGEST);
	range_protect(from, PAGES, PROT_READ | PROT_WRITE);
	expect_content(from, PAGES, SEED, 0);
	expect_writable(from, PAGES);
}

/*
 * What moved is changed page by page: an entry that looks like a part of a block
 * and is none takes its neighbours along.
 */
static void change_pages(char *at, size_t pages)
{
	size_t n;

	for (n = 0; n < pages; n += 5) {
		range_protect(page_at(at, n), 1, PROT_READ);
		expect_content(at, pages, SEED, 0);
		range_protect(page_at(at, n), 1, PROT_READ | PROT_WRITE);
	}
	expect_content(at, pages, SEED, 0);
}

static void move_and_change(char *from, char *to)
{
	size_t d;

	for (d = 0; d < BLOCK; d += STEP) {
		move(from, LONGEST, page_at(to, d));
		change_pages(page_at(to, d), LONGEST);
		move(page_at(to, d), LONGEST, from);
		expect_content(from, PAGES, SEED, 0);
	}
}

QUIRE_CASE_SIZES(mremap, runs_changed_there, 4, 64)
{
	char *from = range_filled(SRC_BASE, PAGES, kib);
	char *to = range_hole(DST_BASE, PAGES);

	move_and_change(from, to);
	/* From now on, the first block is loose */
	drop_page(page_at(from, 3));
	pattern_write_page(page_at(from, 3), SEED, 3);
	move_and_change(from, to);
	expect_writable(from, PAGES);
}

static void move_with_odd(char *from, char *to)
{
	size_t i;

	for (i = 0; i < NR_SHIFTS; i++)
		there_and_back(page_at(from, START), LONGEST,
			       page_at(to, shift(i)));
}

/* One kind of odd entry, and what the pages must hold in the end. */
static void each_place(unsigned long kib, void (*make)(char *from, size_t odd),
		       void (*check)(char *from, size_t odd))
{
	char *to = range_hole(DST_BASE, PAGES), *from;
	size_t odd;

	swap_on(SWAP_MIB);
	for (odd = START; odd < START + LONGEST; odd += STEP) {
		from = range_filled(SRC_BASE, PAGES, kib);
		make(from, odd);
		if (odd / STEP % 4 == 0)
			pagemap_clear_soft_dirty();
		move_with_odd(from, to);
		check(from, odd);
		range_drop(from, PAGES);
	}
}

#define ODD_CASE(name_, make_, check_)					\
	QUIRE_CASE_SIZES_CALL(mremap, name_, each_place(kib, make_, check_), 4, 64)

/* All pages but the odd one hold `seed`; that one `odd_seed`, or zeroes if 0 */
static void expect_odd(char *from, size_t odd, uint64_t seed, uint64_t odd_seed)
{
	expect_content(from, odd, seed, 0);
	expect_content(page_at(from, odd + 1), PAGES - odd - 1, seed, odd + 1);
	if (odd_seed)
		expect_content(page_at(from, odd), 1, odd_seed, odd);
	else
		expect_zero(page_at(from, odd), 1);
}

static void make_none(char *from, size_t odd)
{
	drop_page(page_at(from, odd));
}

static void check_zero(char *from, size_t odd)
{
	expect_odd(from, odd, SEED, 0);
	expect_writable(from, PAGES);
}

ODD_CASE(run_with_none, make_none, check_zero)

static void make_zero_page(char *from, size_t odd)
{
	drop_page(page_at(from, odd));
	expect_zero(page_at(from, odd), 1);
}

ODD_CASE(run_with_zero_page, make_zero_page, check_zero)

static void make_swapped(char *from, size_t odd)
{
	swap_out(page_at(from, odd), 1);
}

static void check_same(char *from, size_t odd __attribute__((unused)))
{
	expect_content(from, PAGES, SEED, 0);
	expect_writable(from, PAGES);
}

ODD_CASE(run_with_swapped, make_swapped, check_same)

static void make_present(char *from, size_t odd)
{
	swap_out(from, PAGES);
	expect_content(page_at(from, odd), 1, SEED, odd);
}

ODD_CASE(swapped_with_present, make_present, check_same)

static void make_none_in_swapped(char *from, size_t odd)
{
	swap_out(from, PAGES);
	drop_page(page_at(from, odd));
}

ODD_CASE(swapped_with_none, make_none_in_swapped, check_zero)

/* Pages that are freed lazily are dropped if they are clean, and kept if not. */
static void make_clean(char *from, size_t odd)
{
	lazy_free(page_at(from, odd), 1);
}

static void check_clean(char *from, size_t odd)
{
	page_out(from, PAGES * PAGE_SIZE);
	expect_odd(from, odd, SEED, 0);
}

ODD_CASE(run_with_clean, make_clean, check_clean)

static void make_dirty(char *from, size_t odd)
{
	lazy_free(from, PAGES);
	pattern_write_page(page_at(from, odd), SEED_NEW, odd);
}

/* Only a small page is dropped alone: the others share the fate of a folio. */
static void check_dirty(char *from, size_t odd)
{
	page_out(from, PAGES * PAGE_SIZE);
	expect_content(page_at(from, odd), 1, SEED_NEW, odd);
}

ODD_CASE(clean_with_dirty, make_dirty, check_dirty)

/* The child has the pages as they were; the parent writes some before it moves. */
static struct peer child;

static void fork_reader(char *from)
{
	if (peer_fork(&child))
		return;
	peer_wait(&child);
	expect_content(from, PAGES, SEED, 0);
	peer_end(&child);
}

static void check_child(char *from, size_t odd __attribute__((unused)))
{
	pattern_write(from, PAGES * PAGE_SIZE, SEED_NEW);
	peer_turn(&child);
	peer_join(&child, "the child that has the pages as they were");
	expect_content(from, PAGES, SEED_NEW, 0);
}

static void make_read_only(char *from, size_t odd)
{
	size_t n;

	fork_reader(from);
	for (n = 0; n < PAGES; n++) {
		if (n != odd)
			pattern_write_page(page_at(from, n), SEED_NEW, n);
	}
}

ODD_CASE(run_with_read_only, make_read_only, check_child)

QUIRE_CASE_SIZES(mremap, runs_executable_shared, 4, 64)
{
	char *from = range_filled(SRC_BASE, PAGES, kib);

	range_protect(from, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC);
	fork_reader(from);
	move_with_odd(from, range_hole(DST_BASE, PAGES));
	check_child(from, 0);
}

static void make_writable(char *from, size_t odd)
{
	fork_reader(from);
	pattern_write_page(page_at(from, odd), SEED_NEW, odd);
}

ODD_CASE(read_only_with_writable, make_writable, check_child)

/* How the odd page is when it becomes write-protected. */
enum protected { PRESENT, SWAPPED, ABSENT, EVERY_SECOND_SWAPPED };

static void prepare(char *from, size_t odd, enum protected how)
{
	size_t n;

	if (how == SWAPPED)
		swap_out(page_at(from, odd), 1);
	if (how == ABSENT)
		drop_page(page_at(from, odd));
	for (n = 0; how == EVERY_SECOND_SWAPPED && n < PAGES; n += 2)
		swap_out(page_at(from, n), 1);
}

static void move_protected(char *from, char *to, size_t odd, bool watched)
{
	uint64_t features = watched ? UFFD_FEATURE_EVENT_REMAP : 0;
	int uffd = uffd_open(WP | features);
	struct uffd_watch *watch = NULL;
	struct snapshot *before;

	uffd_register_wp(uffd, page_at(from, START), LONGEST * PAGE_SIZE);
	uffd_writeprotect(uffd, page_at(from, odd), PAGE_SIZE, true);
	if (watched)
		watch = uffd_watch_start(uffd, to, LONGEST);
	before = snapshot(page_at(from, START), LONGEST);
	EXPECT(before->page[odd - START].uffd_wp, "page %zu is not protected",
	       odd);
	move(page_at(from, START), LONGEST, to);
	expect_changed(before, to, MOVED | (watched ? 0 : WP_DROPPED));
	if (watched)
		uffd_watch_end(watch);
	close(uffd);
	free(before);
}

static void each_protected(unsigned long kib, enum protected how, bool watched)
{
	char *to = range_hole(DST_BASE, PAGES), *from, *at;
	size_t odd;

	swap_on(SWAP_MIB);
	for (odd = START; odd < START + LONGEST; odd += STEP) {
		at = page_at(to, shift(odd / STEP % NR_SHIFTS));
		from = range_filled(SRC_BASE, PAGES, kib);
		prepare(from, odd, how);
		if (odd / STEP % 4 == 0)
			pagemap_clear_soft_dirty();
		move_protected(from, at, odd, watched);
		unmap(at, LONGEST * PAGE_SIZE);
		range_drop(from, PAGES);
	}
}

#define PROTECTED_CASE(name_, how_, watched_)				\
	QUIRE_CASE_SIZES_CALL(mremap, name_, each_protected(kib, how_, watched_), 4, 64)

PROTECTED_CASE(run_with_protected_kept, PRESENT, true)
PROTECTED_CASE(run_with_protected_dropped, PRESENT, false)
PROTECTED_CASE(run_with_protected_swapped_kept, SWAPPED, true)
PROTECTED_CASE(run_with_protected_swapped_dropped, SWAPPED, false)
PROTECTED_CASE(run_with_marker_kept, ABSENT, true)
PROTECTED_CASE(run_with_marker_dropped, ABSENT, false)

QUIRE_CASE_CALL(mremap, run_alternates_protected_kept,
		each_protected(kib, EVERY_SECOND_SWAPPED, true))
QUIRE_CASE_CALL(mremap, run_alternates_protected_dropped,
		each_protected(kib, EVERY_SECOND_SWAPPED, false))
