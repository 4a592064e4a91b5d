// SPDX-License-Identifier: GPL-2.0
/* What parent and child have after fork(), and that they have it apart. */
#include <stdlib.h>

#include "fork.h"
#include "memory/pattern.h"
#include "proc/proc.h"

char *fork_range(unsigned long kib)
{
	char *at = swapout_range(kib, true);
	size_t pages = range_pages(kib);

	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	return at;
}

static char *range_in_swap(unsigned long kib, bool by_pte __attribute__((unused)))
{
	return fork_range(kib);
}

const struct ground in_swap = {
	.start = start_swapping, .end = swapout_end, .range = range_in_swap,
};

static void child(struct peer *peer, char *addr, const struct snapshot *before,
		  unsigned long swapped, enum order order)
{
	size_t pages = before->pages;

	peer_wait(peer);
	expect_changed(before, addr, MAPPED_AGAIN | WP_DROPPED);
	EXPECT_EQ(status_kib("VmSwap"), swapped);
	peer_turn(peer);
	if (order == CHILD_READS)
		expect_content(addr, pages, SEED, 0);
	peer_turn(peer);
	expect_content(addr, pages, SEED, 0);
	pattern_write(addr, pages * PAGE_SIZE, SEED_CHILD);
	peer_turn(peer);
	expect_content(addr, pages, SEED_CHILD, 0);
	peer_end(peer);
}

void expect_apart(char *addr, size_t pages, enum order order)
{
	struct snapshot *before = snapshot(addr, pages);
	unsigned long swapped = status_kib("VmSwap");
	struct peer peer;

	if (!peer_fork(&peer))
		child(&peer, addr, before, swapped, order);
	expect_changed(before, addr, MAPPED_AGAIN);
	EXPECT_EQ(status_kib("VmSwap"), swapped);
	peer_turn(&peer);	/* the child compares */
	peer_turn(&peer);	/* it may read */
	if (order != CHILD_FIRST)
		expect_writable(addr, pages);
	peer_turn(&peer);	/* it sees the old contents, and writes */
	expect_content(addr, pages, order == CHILD_FIRST ? SEED : SEED_NEW, 0);
	expect_writable(addr, pages);
	peer_turn(&peer);	/* it sees what it wrote */
	peer_join(&peer, "the child");
	expect_content(addr, pages, SEED_NEW, 0);
	free(before);
}
