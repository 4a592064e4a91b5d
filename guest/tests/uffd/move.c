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
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "process/map.h"
#include "proc/proc.h"
#include "tests/matrix/operations.h"

/*
 * Memory with no page, to which pages of the trial can be moved, registered with
 * these features and for these modes, too. The fixture drops both.
 */
static char *target_with(struct trial *t, uint64_t features, uint64_t modes,
			 char *to)
{
	t->uffd = uffd_open_or_skip(UFFD_FEATURE_MOVE | features);
	trial_hole(t, to);
	map_anon(to, t->pages * PAGE_SIZE);
	uffd_register(t->uffd, to, t->pages * PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING | modes);
	return to;
}

static char *target(struct trial *t, char *to)
{
	return target_with(t, 0, 0, to);
}

/* All pages move. */
static void move_all(struct trial *t, char *to)
{
	EXPECT_EQ(uffd_move(t->uffd, to, t->at, t->pages * PAGE_SIZE),
		  t->pages * PAGE_SIZE);
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
	struct trial trial = { .kib = kib }, *t = &trial;
	size_t pages = range_pages(kib), rest = pages - lead;
	char *at = range_by_ptes(kib);

	trial_begin(t, at, pages);
	target(t, to);
	pagemap_clear_soft_dirty();
	expect_content(at, pages, SEED, 0);
	EXPECT_EQ(uffd_move(t->uffd, page_at(to, lead), page_at(at, lead),
			    rest * PAGE_SIZE), rest * PAGE_SIZE);
	expect_left(page_at(at, lead), rest);
	expect_content(page_at(to, lead), rest, SEED, lead);
	expect_soft_dirty(page_at(to, lead), rest);
	if (lead)
		EXPECT_EQ(uffd_move(t->uffd, to, at, lead * PAGE_SIZE),
			  lead * PAGE_SIZE);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	trial_end(t);
}

QUIRE_CASE_SIZES_CALL(uffd, moved, check_moved(kib, DST_BASE, 0), ALL_SIZES)

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

static void needs_move(void)
{
	close(uffd_open_or_skip(UFFD_FEATURE_MOVE));
}

/* What protects pages of the source stays behind, whatever it covers. */
static void act(struct trial *t)
{
	int before = t->uffd;
	char *from = t->at, *to = target(t, DST2_BASE);

	move_all(t, to);
	close(t->uffd);
	t->uffd = before;
	t->at = to;
	expect_left(from, t->pages);
}

static const struct ground movable = { .needs = needs_move, .range = range_of };

const struct operation uffd_moving = {
	.ground = &movable, .act = act,
	.changes = SOFT_DIRTY_SET | WP_DROPPED, .needs_exclusive = true,
};

/* Protection against any access comes with the target. */
TRIAL_CASE(uffd, moved_rwp, plain, 0, ALL_SIZES)
{
	char *to = target_with(t, UFFD_FEATURE_RWP | UFFD_FEATURE_RWP_ASYNC,
			       UFFDIO_REGISTER_MODE_RWP, DST_BASE);
	size_t n;

	move_all(t, to);
	for (n = 0; n < t->pages; n++)
		EXPECT(pagemap_page(page_at(to, n)).uffd_wp,
		       "page %zu is not protected", n);
	expect_content(to, t->pages, SEED, 0);
	expect_writable(to, t->pages);
}

/* Whole folios keep their frames and are not split. */
TAGGED_TRIAL_CASE(uffd, moved_whole, SERIES, plain, 0, LARGE_SIZES)
{
	unsigned long split = mthp_stat(t->kib, "split");
	char *to = target(t, DST_BASE);
	size_t total;

	t->before = snapshot(t->at, t->pages);
	move_all(t, to);
	EXPECT_EQ(mthp_stat(t->kib, "split"), split);
	EXPECT_EQ(snapshot_moved(t->before, to, t->kib, MASK_ALL), 0);
	EXPECT_EQ(folio_count(to, t->pages * PAGE_SIZE, t->kib, &total), total);
}

/* Moves all up to page `stop`, which says why it does not move. */
static void expect_stop(struct trial *t, size_t stop, int error)
{
	EXPECT_EQ(uffd_move(t->uffd, DST_BASE, t->at, t->pages * PAGE_SIZE),
		  stop ? (long)(stop * PAGE_SIZE) : -error);
	EXPECT_EQ(pagemap_present(DST_BASE, stop), stop);
	expect_content(DST_BASE, stop, SEED, 0);
}

/* Pages that a child shares do not move. */
TRIAL_CASE(uffd, shared_stays, plain, MASKS, ALL_SIZES)
{
	size_t stop = 0;

	target(t, DST_BASE);
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		sharer_looks(&t->peer, t->at, t->pages, t->kib, t->mask);
		exit(0);
	}
	while (stop < t->pages && masked(t->mask, stop, t->kib))
		stop++;
	expect_stop(t, stop, EBUSY);
	expect_content(page_at(t->at, stop), t->pages - stop, SEED, stop);
	if (stop)
		expect_writable(DST_BASE, stop);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
}

/* Where a page is mapped already, none is replaced. */
TRIAL_CASE(uffd, occupied_stays, plain, MASKS, ALL_SIZES)
{
	size_t stop = mask_first(t->mask, t->kib);
	char *taken = page_at(target(t, DST_BASE), stop);

	uffd_unregister(t->uffd, DST_BASE, t->pages * PAGE_SIZE);
	pattern_write_page(taken, SEED_NEW, 0);
	uffd_register(t->uffd, DST_BASE, t->pages * PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING);
	expect_stop(t, stop, EEXIST);
	expect_content(taken, 1, SEED_NEW, 0);
	expect_content(page_at(t->at, stop), t->pages - stop, SEED, stop);
}

/* A page that is missing ends the move. */
TRIAL_CASE(uffd, missing_ends, plain, MASKS, ALL_SIZES)
{
	size_t stop = mask_first(t->mask, t->kib);

	target(t, DST_BASE);
	range_advise(page_at(t->at, stop), 1, MADV_DONTNEED);
	expect_stop(t, stop, ENOENT);
	expect_content(page_at(t->at, stop + 1), t->pages - stop - 1, SEED,
		       stop + 1);
}

static void pinned_stays(struct trial *t)
{
	struct pin *pin;

	target(t, DST_BASE);
	pin = pin_folios(t->at, t->pages, t->kib, folio_pages(t->kib) - 1);
	t->before = snapshot(t->at, t->pages);
	expect_stop(t, 0, EBUSY);
	expect_entries(t->before, t->at);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
	pin_end(pin);
}

/*
 * A page that the kernel writes to or reads from stays where it is. Before 7.3,
 * the kernel tries to split its folio until the process is killed.
 */
QUIRE_CASE_FULL(uffd, pinned_stays, 2000, KTAP_SIZES(LARGE_SIZES))
{
	trials_run(&plain, 0, kib, pinned_stays);
}

/* Reclaim finds the pages at their new addresses, through the rmap. */
TRIAL_CASE(uffd, moved_swaps_out, with_swap, 0, ALL_SIZES)
{
	char *to = target(t, page_at(DST_BASE, 3));

	move_all(t, to);
	page_out(to, t->pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(to, t->pages), t->pages);
	expect_content(to, t->pages, SEED, 0);
}

/*
 * Pages in swap move while their folio is in the swap cache, also if it is still
 * written, or if only some of its pages move; and reclaim finds them there. The
 * folio has been moved before, or not.
 */
static void check_swap_cached(unsigned long kib, bool moved, size_t lead,
			      unsigned long write_ms)
{
	struct trial trial = { .kib = kib }, *t = &trial;
	size_t pages = range_pages(kib), rest = pages - lead;
	int first = -1;
	long bytes;
	char *from;

	trial_begin(t, range_by_ptes(kib), pages);
	swap_on_block_slow(SWAP_FOR_TESTS, write_ms);
	if (moved) {
		from = target(t, DST2_BASE);
		move_all(t, from);
		first = t->uffd;
		t->at = from;
	}
	target(t, DST_BASE);
	from = t->at;
	page_out(from, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(from, pages), pages);
	bytes = uffd_move(t->uffd, page_at(DST_BASE, lead), page_at(from, lead),
			  rest * PAGE_SIZE);
	ASSERT(bytes == (long)(rest * PAGE_SIZE), "%ld bytes moved", bytes);
	EXPECT_EQ(pagemap_swapped(page_at(DST_BASE, lead), rest), rest);
	if (lead)
		EXPECT_EQ(uffd_move(t->uffd, DST_BASE, from, lead * PAGE_SIZE),
			  lead * PAGE_SIZE);
	expect_content(DST_BASE, pages, SEED, 0);
	/* Pages that are still written stay. */
	usleep(2000 * write_ms);
	page_out(DST_BASE, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(DST_BASE, pages), pages);
	expect_content(DST_BASE, pages, SEED, 0);
	expect_writable(DST_BASE, pages);
	if (moved)
		close(first);
	trial_end(t);
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

static void held_ends(struct trial *t)
{
	long moved;

	target(t, DST_BASE);
	t->hold = hold_folios(t->at, t->pages, t->kib, folio_pages(t->kib) - 1);
	moved = uffd_move(t->uffd, DST_BASE, t->at, t->pages * PAGE_SIZE);
	if (moved == -EBUSY)
		moved = 0;
	EXPECT(!moved || moved == (long)(t->pages * PAGE_SIZE),
	       "%ld bytes moved", moved);
	expect_content(moved ? DST_BASE : t->at, t->pages, SEED, 0);
	expect_writable(moved ? DST_BASE : t->at, t->pages);
	hold_end(&t->hold);
}

/*
 * A page to which something else has a reference, but no pin, moves with its
 * folio, or ends the move: the kernel does not try for ever to split the folio.
 */
QUIRE_CASE_FULL(uffd, held_ends, 2000, .tag = FIXES, KTAP_SIZES(LARGE_SIZES))
{
	trials_run(&plain, 0, kib, held_ends);
}
