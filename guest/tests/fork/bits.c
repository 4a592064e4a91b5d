// SPDX-License-Identifier: GPL-2.0
/* The bits that a swap entry has besides its slot, in parent and child. */
#include <pthread.h>
#include <unistd.h>

#include "fork.h"
#include "kernel/wp.h"

/* Pages in the mask are write-protected, and all are in swap. */
static void protect(struct trial *t, uint64_t features)
{
	t->uffd = wp_protect_with(WP_FEATURES | features, t->at, t->pages, t->kib,
				  t->mask);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	t->before = snapshot(t->at, t->pages);
}

/* The child has no userfaultfd: no entry of it is protected. */
TRIAL_CASE(fork, wp_dropped, swapping, MASKS, ALL_SIZES)
{
	protect(t, 0);
	if (!peer_fork(&t->peer)) {
		expect_changed(t->before, t->at, MAPPED_AGAIN | WP_DROPPED);
		expect_content(t->at, t->pages, SEED, 0);
		expect_writable(t->at, t->pages);
		peer_end(&t->peer);
	}
	peer_wait(&t->peer);
	expect_changed(t->before, t->at, MAPPED_AGAIN);
	peer_join(&t->peer, "the child without a userfaultfd");
	expect_content(t->at, t->pages, SEED, 0);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
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
TRIAL_CASE(fork, wp_kept, swapping, MASKS, ALL_SIZES)
{
	pthread_t thread;

	protect(t, UFFD_FEATURE_EVENT_FORK);
	if (pthread_create(&thread, NULL, read_fork_event, &t->uffd))
		die("cannot start a thread");
	if (!peer_fork(&t->peer)) {
		expect_changed(t->before, t->at, MAPPED_AGAIN);
		expect_content(t->at, t->pages, SEED, 0);
		peer_turn(&t->peer);
		expect_content(t->at, t->pages, SEED, 0);
		peer_end(&t->peer);
	}
	if (pthread_join(thread, NULL))
		die("cannot join a thread");
	peer_wait(&t->peer);
	expect_changed(t->before, t->at, MAPPED_AGAIN);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child with a userfaultfd");
	close(child_uffd);
}

/* Written since soft-dirty was cleared: the pages in the mask. */
TRIAL_CASE(fork, soft_dirty, swapping, MASKS, ALL_SIZES)
{
	size_t n;

	needs_soft_dirty();
	soft_dirty_where(t->at, t->pages, t->kib, t->mask);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	t->before = snapshot(t->at, t->pages);
	for (n = 0; n < t->pages; n++)
		EXPECT_EQ(t->before->page[n].soft_dirty,
			  masked(t->mask, n, t->kib));
	expect_apart(t->at, t->pages, PARENT_FIRST);
}
