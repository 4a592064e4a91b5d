// SPDX-License-Identifier: GPL-2.0
/*
 * Folios whose pages have different PTE bits, and a reclaim that fails. Each
 * page must get back its own bits, not those of the folio's first page.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "lazyfree.h"
#include "memory/share.h"

/*
 * The child has exited. Some pages are writable and others not, but none is
 * shared. One pass has to drop them all, in several batches of PTEs, and not
 * because a part that was left over is split.
 */
TRIAL_CASE(lazyfree, mixed_writable_dropped, lazy, MASKS, ALL_SIZES)
{
	unsigned long split = lazy_splits(t->kib);

	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		exit(STATUS_OK);
	peer_join(&t->peer, "a child that only ends");
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_dropped(t->at, t->pages);
	EXPECT_EQ(lazy_splits(t->kib), split);
}

enum soft_dirty {
	WRITTEN,	/* pages in the mask dirty and soft-dirty */
	WRITTEN_BEFORE,	/* pages in the mask dirty; none soft-dirty */
	FREED_AFTER,	/* pages in the mask soft-dirty; none dirty */
};

static void make_soft_dirty(struct trial *t, enum soft_dirty what)
{
	size_t n;

	needs_soft_dirty();
	if (what != FREED_AFTER)
		lazy_free(t->at, t->pages);
	soft_dirty_where(t->at, t->pages, t->kib, t->mask);
	if (what == WRITTEN_BEFORE)
		pagemap_clear_soft_dirty();
	if (what == FREED_AFTER)
		lazy_free(t->at, t->pages);
	t->before = snapshot(t->at, t->pages);
	for (n = 0; n < t->pages; n++)
		EXPECT(t->before->page[n].soft_dirty ==
		       (what != WRITTEN_BEFORE && masked(t->mask, n, t->kib)),
		       "page %zu (%s) is not as the case needs it", n,
		       t->mask->name);
}

/* Pages with an extra reference are unchanged. */
static void expect_held_same(struct trial *t, enum how how)
{
	size_t kept = trial_holds(t, 0);
	struct snapshot *before = snapshot(t->at, kept);

	reclaim(t->at, t->pages, how);
	expect_entries(before, t->at);
	expect_content(t->at, kept, SEED, 0);
	hold_end(&t->hold);
	free(before);
}

static void written_held(struct trial *t)
{
	make_soft_dirty(t, WRITTEN);
	expect_held_same(t, BY_PAGEOUT);
}

static void written_before_held(struct trial *t)
{
	make_soft_dirty(t, WRITTEN_BEFORE);
	expect_held_same(t, BY_PAGEOUT);
}

static void freed_after_held(struct trial *t)
{
	make_soft_dirty(t, FREED_AFTER);
	expect_held_same(t, BY_PAGEOUT);
}

QUIRE_CASE_SIZES(lazyfree, soft_dirty_same, ALL_SIZES)
{
	trials_run(&charged, MASKS, kib, written_held);
	trials_run(&charged, MASKS, kib, written_before_held);
	trials_run(&charged, MASKS, kib, freed_after_held);
}

/* All pages are read-only, so only their soft-dirty bits differ. */
TRIAL_CASE(lazyfree, soft_dirty_same_read_only, charged, MASKS, ALL_SIZES)
{
	make_soft_dirty(t, FREED_AFTER);
	fork_and_forget();
	expect_held_same(t, BY_MEMCG);
}

/* Without an extra reference: reclaim fails because of the dirty page. */
static void check_redirtied(struct trial *t, enum soft_dirty what)
{
	make_soft_dirty(t, what);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_entries_or_dropped(t->before, t->at, t->kib, t->mask);
	expect_old_or_zero(t->at, t->pages, 0);
}

static void written(struct trial *t)
{
	check_redirtied(t, WRITTEN);
}

static void written_before(struct trial *t)
{
	check_redirtied(t, WRITTEN_BEFORE);
}

QUIRE_CASE_SIZES(lazyfree, soft_dirty_same_redirtied, ALL_SIZES)
{
	trials_run(&charged, MASKS, kib, written);
	trials_run(&charged, MASKS, kib, written_before);
}

/* Pages that differ in soft-dirty only, all clean: dropped in one pass. */
TRIAL_CASE(lazyfree, mixed_soft_dirty_dropped, charged, MASKS, ALL_SIZES)
{
	make_soft_dirty(t, FREED_AFTER);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_dropped(t->at, t->pages);
}

/*
 * mprotect() changes the entries of a folio as a batch, too. Dirty pages that
 * were not written to since clear_refs do not make the others soft-dirty.
 */
TRIAL_CASE(lazyfree, soft_dirty_protected, charged, MASKS, ALL_SIZES)
{
	make_soft_dirty(t, WRITTEN_BEFORE);
	range_protect(t->at, t->pages, PROT_READ);
	expect_entries(t->before, t->at);
}
