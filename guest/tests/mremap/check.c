// SPDX-License-Identifier: GPL-2.0
/* Checks before and after a move, and the move as an operation of the matrix. */
#include <stdlib.h>

#include "base/uapi.h"
#include "mremap.h"
#include "proc/proc.h"
#include "tests/matrix/operations.h"

void expect_empty(const char *addr, size_t pages)
{
	struct snapshot *now = snapshot(addr, pages);
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(!now->page[n].present && !now->page[n].swapped,
		       "page %zu of %p should be empty: pagemap has %#llx", n,
		       addr, (unsigned long long)now->page[n].raw);
	free(now);
}

void expect_gone(const char *addr, size_t pages)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(probe_read(addr + n * PAGE_SIZE, &word),
		       "page %zu of %p can still be read", n, addr);
	expect_empty(addr, pages);
}

void move_and_check(char *from, size_t pages, char *to)
{
	struct snapshot *before = snapshot(from, pages);
	unsigned long rss = smaps_kib(from, "Rss");
	unsigned long swap = smaps_kib(from, "Swap");

	move(from, pages, to);
	expect_changed(before, to, MOVED);
	EXPECT_EQ(smaps_kib(to, "Rss"), rss);
	EXPECT_EQ(smaps_kib(to, "Swap"), swap);
	expect_gone(from, pages);
	free(before);
}

/* To a place that is aligned as before, or differently for each mask. */
static char *move_trial(struct trial *t)
{
	size_t shift = t->way ? (size_t)(t->mask - masks) % NR_MASKS + 1 : 0;
	char *from = t->at, *to = page_at(DST2_BASE, BLOCK + shift);

	trial_goes(t, to);
	return from;
}

static void move_watched(struct trial *t)
{
	unsigned long rss = smaps_kib(t->at, "Rss");
	unsigned long swap = smaps_kib(t->at, "Swap");
	char *from = move_trial(t);
	struct uffd_moved moved;

	if (t->uffd >= 0)
		t->watch = uffd_watch_start(t->uffd, t->at, t->pages);
	move(from, t->pages, t->at);
	EXPECT_EQ(smaps_kib(t->at, "Rss"), rss);
	EXPECT_EQ(smaps_kib(t->at, "Swap"), swap);
	expect_gone(from, t->pages);
	if (!t->watch)
		return;
	EXPECT(smaps_flag(t->at, "uw"), "the userfaultfd did not follow the move");
	moved = uffd_watch_moved(t->watch);
	EXPECT_EQ(moved.moves, 1);
	EXPECT_EQ(moved.from, (uintptr_t)from);
	EXPECT_EQ(moved.to, (uintptr_t)t->at);
	EXPECT_EQ(moved.len, t->pages * PAGE_SIZE);
}

const struct operation moving = {
	.ground = &plain, .act = move_watched, .changes = MOVED,
	.by_blocks = true, .spreads_young = true, .ways = 2,
	.uffd_features = UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_EVENT_REMAP,
};

/* The VMA at the new place is an ordinary one: nothing there stops writes. */
static void move_unwatched(struct trial *t)
{
	char *from = move_trial(t);

	move(from, t->pages, t->at);
	expect_gone(from, t->pages);
	EXPECT(!smaps_flag(t->at, "uw"), "the userfaultfd followed the move");
}

const struct operation moving_unwatched = {
	.ground = &plain, .act = move_unwatched, .changes = MOVED | WP_DROPPED,
	.by_blocks = true, .ways = 2,
	.uffd_features = UFFD_FEATURE_WP_UNPOPULATED,
};
