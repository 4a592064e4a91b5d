// SPDX-License-Identifier: GPL-2.0
/* The bits that a swap entry has besides its slot, in parent and child. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fork.h"
#include "kernel/wp.h"
#include "memory/pattern.h"

/* Pages in the mask are write-protected, and all are in swap. */
static char *protected_range(unsigned long kib, uint64_t features,
			     const struct mask *mask, int *uffd)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);

	*uffd = wp_protect_with(WP_FEATURES | features, at, pages, kib, mask);
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	return at;
}

/* The child has no userfaultfd: no entry of it is protected. */
FORK_CASE(wp_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		struct snapshot *before;
		struct peer peer;
		int uffd;
		char *at = protected_range(kib, 0, mask, &uffd);

		before = snapshot(at, pages);
		if (!peer_fork(&peer)) {
			expect_copied(before, at, WP_GOES);
			expect_content(at, pages, SEED, 0);
			expect_writable(at, pages);
			peer_end(&peer);
		}
		peer_wait(&peer);
		expect_copied(before, at, WP_STAYS);
		peer_join(&peer, "the child without a userfaultfd");
		expect_content(at, pages, SEED, 0);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
		free(before);
	}
}

static int child_uffd;

/* fork() waits until its event has been read. */
static void *read_fork_event(void *arg)
{
	struct uffd_msg msg;
	const int *uffd = arg;

	if (!uffd_event(*uffd, &msg, 5000) || msg.event != UFFD_EVENT_FORK)
		die("no event for the fork");
	child_uffd = msg.arg.fork.ufd;
	return NULL;
}

/* The child is watched, too: its entries have the parent's protection. */
FORK_CASE(wp_kept, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		struct snapshot *before;
		pthread_t thread;
		struct peer peer;
		int uffd;
		char *at = protected_range(kib, UFFD_FEATURE_EVENT_FORK, mask,
					   &uffd);

		before = snapshot(at, pages);
		if (pthread_create(&thread, NULL, read_fork_event, &uffd))
			die("cannot start a thread");
		if (!peer_fork(&peer)) {
			expect_copied(before, at, WP_STAYS);
			expect_content(at, pages, SEED, 0);
			peer_turn(&peer);
			expect_content(at, pages, SEED, 0);
			peer_end(&peer);
		}
		if (pthread_join(thread, NULL))
			die("cannot join a thread");
		peer_wait(&peer);
		expect_copied(before, at, WP_STAYS);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		peer_turn(&peer);
		peer_join(&peer, "the child with a userfaultfd");
		close(child_uffd);
		close(uffd);
		range_drop(at, pages);
		free(before);
	}
}

/* Written since soft-dirty was cleared: the pages in the mask. */
FORK_CASE(soft_dirty, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	needs_soft_dirty();
	for_each_mask(mask) {
		char *at = swapout_range(kib, true);
		struct snapshot *before;

		soft_dirty_where(at, pages, kib, mask);
		reclaim(at, pages, BY_PAGEOUT);
		before = snapshot(at, pages);
		for (n = 0; n < pages; n++)
			EXPECT_EQ(before->page[n].soft_dirty,
				  masked(mask, n, kib));
		expect_apart(at, pages, PARENT_FIRST);
		range_drop(at, pages);
		free(before);
	}
}
