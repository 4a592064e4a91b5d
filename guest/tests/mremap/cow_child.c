// SPDX-License-Identifier: GPL-2.0
/*
 * Copy-on-write around a move by the child. Its range maps the parent's pages
 * and, between them, its own copies of the pages that it wrote already.
 */
#include "memory/pattern.h"
#include "mremap.h"

#define DST		page_at(DST_BASE, BLOCK)

/* Every page whose number is a multiple of `own` is the child's own. */
static void moving_child(struct peer *peer, char *from, size_t pages, char *to,
			 size_t own)
{
	size_t n;

	for (n = 0; n < pages; n += own)
		pattern_write_page(page_at(from, n), SEED_CHILD, n);
	move_and_check(from, pages, to);
	for (n = 0; n < pages; n++)
		expect_content(page_at(to, n), 1, n % own ? SEED : SEED_CHILD,
			       n);
	pattern_write(to, pages * PAGE_SIZE, SEED_CHILD);
	peer_turn(peer);
	expect_content(to, pages, SEED_CHILD, 0);
	peer_end(peer);
}

static void child_moves(unsigned long kib, size_t own)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	if (!peer_fork(&peer))
		moving_child(&peer, from, pages, to, own);
	peer_wait(&peer);
	expect_content(from, pages, SEED, 0);
	expect_writable(from, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child that moves");
	expect_content(from, pages, SEED_NEW, 0);
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, cow_child_moves, ALL_SIZES)
{
	const size_t own[] = { 2, 5, BLOCK, 3 * BLOCK };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		child_moves(kib, own[i]);
}
