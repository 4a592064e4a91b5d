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
 * shared. One pass has to drop them all, in several batches of PTEs.
 */
TRIAL_CASE(lazyfree, mixed_writable_dropped, lazy, MASKS, ALL_SIZES)
{
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		exit(STATUS_OK);
	peer_join(&t->peer, "a child that only ends");
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_dropped(t->at, t->pages);
}

enum soft_dirty {
	WRITTEN,	/* pages in the mask dirty and soft-dirty */
	WRITTEN_BEFORE,	/* pages in the mask dirty; none soft-dirty */
	FREED_AFTER,	/* pages in the mask soft-dirty; none dirty */
	NR_SOFT_DIRTY,
};

static char *range_soft_dirty(unsigned long kib, const struct mask *mask,
			      enum soft_dirty what)
{
	size_t n, pages = range_pages(kib);
	char *at = range_charged(kib, true);
	struct snapshot *now;

	if (what != FREED_AFTER)
		lazy_free(at, pages);
	pagemap_clear_soft_dirty();
	mask_write(at, pages, kib, mask, SEED);
	if (what == WRITTEN_BEFORE)
		pagemap_clear_soft_dirty();
	if (what == FREED_AFTER)
		lazy_free(at, pages);
	now = snapshot(at, pages);
	for (n = 0; n < pages; n++)
		EXPECT(now->page[n].soft_dirty ==
		       (what != WRITTEN_BEFORE && masked(mask, n, kib)),
		       "page %zu (%s) is not as the case needs it", n,
		       mask->name);
	free(now);
	return at;
}

/* Pages with an extra reference are unchanged. */
static void check_held(char *at, size_t pages, unsigned long kib, enum how how)
{
	struct hold hold = hold_folios(at, pages, kib, 0);
	size_t kept = hold.held * folio_pages(kib);
	struct snapshot *before = snapshot(at, kept);

	reclaim(at, pages, how);
	expect_entries(before, at);
	expect_content(at, kept, SEED, 0);
	hold_end(&hold);
	free(before);
}

static void check_soft_dirty(unsigned long kib, const struct mask *mask,
			     enum soft_dirty what, bool held)
{
	size_t pages = range_pages(kib);
	char *at = range_soft_dirty(kib, mask, what);
	struct snapshot *before;

	if (held) {
		check_held(at, pages, kib, BY_PAGEOUT);
	} else {
		before = snapshot(at, pages);
		reclaim(at, pages, BY_PAGEOUT);
		expect_entries_or_dropped(before, at, kib, mask);
		expect_old_or_zero(at, pages, 0);
		free(before);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, soft_dirty_same, ALL_SIZES)
{
	enum soft_dirty what;

	needs_soft_dirty();
	for (what = 0; what < NR_SOFT_DIRTY; what++) {
		for_each_mask(mask)
			check_soft_dirty(kib, mask, what, true);
	}
}

/* All pages are read-only, so only their soft-dirty bits differ. */
QUIRE_CASE_SIZES(lazyfree, soft_dirty_same_read_only, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	needs_soft_dirty();
	for_each_mask(mask) {
		char *at = range_soft_dirty(kib, mask, FREED_AFTER);

		fork_and_forget();
		check_held(at, pages, kib, BY_MEMCG);
		range_drop(at, pages);
	}
}

/* Without an extra reference: reclaim fails because of the dirty page. */
QUIRE_CASE_SIZES(lazyfree, soft_dirty_same_redirtied, ALL_SIZES)
{
	needs_soft_dirty();
	for_each_mask(mask) {
		check_soft_dirty(kib, mask, WRITTEN, false);
		check_soft_dirty(kib, mask, WRITTEN_BEFORE, false);
	}
}

/* Pages that differ in soft-dirty only, all clean: dropped in one pass. */
QUIRE_CASE_SIZES(lazyfree, mixed_soft_dirty_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	needs_soft_dirty();
	for_each_mask(mask) {
		char *at = range_soft_dirty(kib, mask, FREED_AFTER);

		reclaim(at, pages, BY_PAGEOUT);
		expect_dropped(at, pages);
		range_drop(at, pages);
	}
}

/*
 * mprotect() changes the entries of a folio as a batch, too. Dirty pages that
 * were not written to since clear_refs do not make the others soft-dirty.
 */
QUIRE_CASE_SIZES(lazyfree, soft_dirty_protected, ALL_SIZES)
{
	size_t pages = range_pages(kib), n;

	needs_soft_dirty();
	for_each_mask(mask) {
		char *at = range_soft_dirty(kib, mask, WRITTEN_BEFORE);
		struct snapshot *now;

		range_protect(at, pages, PROT_READ);
		now = snapshot(at, pages);
		for (n = 0; n < pages; n++)
			EXPECT(!now->page[n].soft_dirty,
			       "page %zu (written: %s) became soft-dirty", n,
			       mask->name);
		free(now);
		range_drop(at, pages);
	}
}
