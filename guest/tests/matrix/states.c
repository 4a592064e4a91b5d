// SPDX-License-Identifier: GPL-2.0
/* What pages can have, how they get it, and how one sees that they still have it. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/swap.h"
#include "kernel/wp.h"
#include "matrix.h"
#include "memory/share.h"
#include "memory/tags.h"
#include "proc/proc.h"
#include "tests/aging/aging.h"
#include "tests/lazyfree/lazyfree.h"

/* How the other entries are: as they were filled, or all read-only. */
enum { AS_FILLED, ALL_READ_ONLY };

static void needs_wp(void)
{
	close(uffd_open(WP_FEATURES));
}

static void make_wp(struct trial *t)
{
	if (t->kind == ALL_READ_ONLY)
		fork_and_forget();
	t->uffd = wp_protect_with(WP_FEATURES | t->op->uffd_features, t->at,
				  t->pages, t->unit, t->mask);
}

/* Writes to protected pages are stopped, and no others. */
static void check_wp(struct trial *t)
{
	trial_reads(t);
	if (t->op->changes & WP_DROPPED)
		expect_writable(t->at, t->pages);
	else if (t->watch)
		expect_watch_stopped(t->watch, t->at, t->pages, t->unit, t->mask);
	else
		expect_wp_stopped(t->uffd, t->at, t->pages, t->unit, t->mask);
}

#define WP_STATE(name_, ...)						\
	const struct state name_ = {					\
		.needs = needs_wp, .make = make_wp, .check = check_wp,	\
		.differ = MASKS, __VA_ARGS__				\
	}

WP_STATE(wp, .last_kind = ALL_READ_ONLY);
/* Only the protection tells the entries apart. */
WP_STATE(wp_read_only, .first_kind = ALL_READ_ONLY, .last_kind = ALL_READ_ONLY);
WP_STATE(wp_shmem, .shared_memory = true);
/* Swap entries and markers of absent pages carry the protection, too. */
WP_STATE(wp_mixed, .mixed = true, .needs_swap = true);

/* An empty entry has the mark of its VMA. */
static void expect_soft_dirty(struct trial *t, const struct mask *mask)
{
	struct snapshot *now = snapshot(t->at, t->pages);
	size_t n;

	for (n = 0; n < t->pages; n++) {
		const struct page_state *page = &now->page[n];

		if (page->present || page->swapped)
			EXPECT(page->soft_dirty == masked(mask, n, t->unit),
			       "%s pages were written: page %zu is %ssoft-dirty",
			       mask->name, n, page->soft_dirty ? "" : "not ");
	}
	free(now);
}

static void make_soft_dirty(struct trial *t)
{
	soft_dirty_where(t->at, t->pages, t->unit, t->mask);
	if (t->kind == ALL_READ_ONLY)
		fork_and_forget();
	expect_soft_dirty(t, t->mask);
}

/* No later write is missed, and tracking goes on. */
static void check_soft_dirty(struct trial *t)
{
	trial_reads(t);
	if (!t->op->changes)
		expect_soft_dirty(t, t->mask);
	expect_writable(t->at, t->pages);
	expect_soft_dirty(t, MASK_ALL);
	soft_dirty_where(t->at, t->pages, t->unit, t->mask);
	expect_soft_dirty(t, t->mask);
}

const struct state soft_dirty = {
	.needs = needs_soft_dirty,
	.make = make_soft_dirty, .check = check_soft_dirty,
	.differ = MASKS | NONE_TOO, .last_kind = ALL_READ_ONLY,
};

const struct state soft_dirty_mixed = {
	.needs = needs_soft_dirty,
	.make = make_soft_dirty, .check = check_soft_dirty,
	.differ = NONE_TOO, .mixed = true, .needs_swap = true,
};

static void make_young(struct trial *t)
{
	age_range(t->at, t->pages);
	access_pages(t->at, t->pages, t->unit, t->mask);
	t->kib_before = smaps_kib(t->at, "Referenced");
	EXPECT(t->kib_before, "reads set no accessed bit");
}

static void check_young(struct trial *t)
{
	unsigned long now = smaps_kib(t->at, "Referenced");

	EXPECT(now == t->kib_before ||
	       (t->op->spreads_young && now > t->kib_before),
	       "%s pages: %lu KiB are accessed, not %lu KiB", t->mask->name, now,
	       t->kib_before);
	trial_reads(t);
}

const struct state young = { .make = make_young, .differ = MASKS, .check = check_young };

/* Given up by MADV_FREE, and some written since: only their dirty bits say so. */
static void make_dirty(struct trial *t)
{
	lazy_free(t->at, t->pages);
	flush_range(t->at, t->pages);
	lazy_rewrite(t->at, t->pages, t->unit, t->mask);
	access_pages(t->at, t->pages, t->unit, MASK_ALL);
	t->kib_before = smaps_kib(t->at, "LazyFree");
}

static void check_dirty(struct trial *t)
{
	EXPECT(smaps_kib(t->at, "LazyFree") <= t->kib_before,
	       "%s pages were written: %lu KiB are clean, %lu KiB were before",
	       t->mask->name, smaps_kib(t->at, "LazyFree"), t->kib_before);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_survivors(t->at, t->pages, t->unit, t->mask);
	expect_writable(t->at, t->pages);
}

const struct state dirty = {
	.needs_swap = true, .make = make_dirty, .differ = MASKS, .check = check_dirty,
};

/*
 * Who writes first. All entries are read-only; all pages are in swap; exclusive
 * pages were written after the fork.
 */
enum { PARENT_FIRST, READ_ONLY, CHILD_FIRST, SWAPPED, WRITTEN };

static void make_exclusive(struct trial *t)
{
	/* Swap entries that the child does not get are exclusive. */
	if (t->kind == SWAPPED)
		swap_out(t->at, t->pages);
	if (!fork_without(&t->peer, t->at, t->pages, t->unit, t->mask)) {
		sharer_looks(&t->peer, t->at, t->pages, t->unit, t->mask);
		sharer_writes(&t->peer, t->at, t->pages, t->unit, t->mask);
	}
	if (t->kind == READ_ONLY)
		range_protect(t->at, t->pages, PROT_READ);
	if (t->kind == WRITTEN)
		mask_write(t->at, t->pages, t->unit, t->mask, SEED);
}

/* A write to an exclusive page copies nothing. */
static void write_exclusive(struct trial *t)
{
	struct snapshot *before = snapshot(t->at, t->pages);

	expect_writable(t->at, t->pages);
	if (!t->op->swaps && t->kind != SWAPPED)
		EXPECT(!snapshot_moved(before, t->at, t->unit, t->mask),
		       "%zu exclusive pages (%s) were copied",
		       snapshot_moved(before, t->at, t->unit, t->mask),
		       t->mask->name);
	free(before);
}

/* Neither process sees what the other writes. */
static void check_exclusive(struct trial *t)
{
	if (t->kind <= READ_ONLY)
		trial_reads(t);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	if (t->kind != CHILD_FIRST)
		write_exclusive(t);
	peer_turn(&t->peer);	/* the child still sees what it had */
	peer_turn(&t->peer);	/* and writes */
	expect_content(t->at, t->pages, t->kind == CHILD_FIRST ? SEED : SEED_NEW, 0);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);	/* it still sees what it wrote */
	peer_join(&t->peer, "the child that shares some pages");
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

#define EXCLUSIVE_STATE(name_, first_, last_, ...)			\
	const struct state name_ = {					\
		.make = make_exclusive, .check = check_exclusive,	\
		.differ = MASKS | NONE_TOO, __VA_ARGS__			\
		.first_kind = first_, .last_kind = last_,		\
	}

EXCLUSIVE_STATE(exclusive, PARENT_FIRST, READ_ONLY);
EXCLUSIVE_STATE(exclusive_writable, PARENT_FIRST, PARENT_FIRST);
EXCLUSIVE_STATE(exclusive_read_only, READ_ONLY, READ_ONLY);
EXCLUSIVE_STATE(exclusive_child_first, CHILD_FIRST, CHILD_FIRST);
EXCLUSIVE_STATE(exclusive_swapped, SWAPPED, SWAPPED, .needs_swap = true,);
EXCLUSIVE_STATE(exclusive_written, WRITTEN, WRITTEN);

static void make_part(struct trial *t)
{
	part_give(t->at, t->pages, t->kib, t->mask, t->part);
}

static void check_part(struct trial *t)
{
	expect_part(t->at, t->pages, t->kib, t->mask, t->part);
}

const struct state part = {
	.make = make_part, .check = check_part, .differ = PARTS,
};

/* A page, half of a folio or all but a page lies below the end of a page table. */
static void make_across(struct trial *t)
{
	size_t nr = folio_pages(t->kib);
	const size_t below[] = { 1, nr / 2, nr - 1 };
	char *from = t->at;

	move(from, t->pages,
	     trial_goes(t, page_at(DST_BASE, PMD_PAGES - below[t->kind])));
	/* The TLB has them there. */
	expect_content(t->at, t->pages, SEED, 0);
}

static void check_usable(struct trial *t)
{
	trial_reads(t);
	expect_writable(t->at, t->pages);
}

static void make_nothing(struct trial *t __attribute__((unused)))
{
}

const struct state mixed = {
	.make = make_nothing, .check = check_usable,
	.mixed = true, .needs_swap = true,
};

const struct state across = {
	.make = make_across, .check = check_usable,
	.last_kind = 2,
};

static void make_tags(struct trial *t)
{
	tags_set(t->at, t->pages);
}

static void check_tags(struct trial *t)
{
	expect_content(t->at, t->pages, SEED, 0);
	expect_tags(t->at, t->pages);
	trial_reads(t);
}

const struct state tags = {
	.needs = needs_tags, .make = make_tags, .check = check_tags,
};
