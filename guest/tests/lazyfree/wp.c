// SPDX-License-Identifier: GPL-2.0
/* Reclaim of lazyfree folios whose pages differ. Where it fails, nothing changes. */
#include "kernel/wp.h"
#include "lazyfree.h"
#include "tests/matrix/operations.h"

/* A pipe may be too small for all folios: the rest of the range may be dropped. */
static void fail_to_reclaim(struct trial *t)
{
	t->hold = hold_folios(t->at, t->pages, t->kib, 0);
	t->pages = t->hold.held * folio_pages(t->kib);
	t->before->pages = t->pages;
	if (t->peer.pid)
		reclaim_shared(t->peer.pid);
	else
		reclaim(t->at, t->pages, BY_MEMCG);
}

static void let_go(struct trial *t)
{
	hold_end(&t->hold);
}

const struct operation failing = {
	.ground = &lazy, .act = fail_to_reclaim, .undo = let_go,
};

/* Redirtied before some pages, or the others, were protected. */
TRIAL_CASE(lazyfree, wp_redirtied, lazy, MASKS, ALL_SIZES)
{
	const struct mask *written = mask_opposite(t->mask);

	lazy_rewrite(t->at, t->pages, t->kib, written);
	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);
	t->before = snapshot(t->at, t->pages);
	reclaim(t->at, t->pages, BY_MEMCG);
	expect_entries_or_dropped(t->before, t->at, t->kib, written);
	expect_survivors(t->at, t->pages, t->kib, written);
}

/* Clean protected pages are dropped as any others, in several batches. */
TRIAL_CASE(lazyfree, wp_dropped, lazy, MASKS, ALL_SIZES)
{
	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);

	reclaim(t->at, t->pages, BY_MEMCG);
	EXPECT_EQ(pagemap_present(t->at, t->pages), 0);
	expect_dropped(t->at, t->pages);
}
