// SPDX-License-Identifier: GPL-2.0
/*
 * swapoff: it must find the processes that fork() gave swap entries, and it may
 * come at any time.
 */
#include <sys/mman.h>
#include <stdlib.h>
#include <unistd.h>

#include "fork.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "process/child.h"
#include "process/map.h"

#define ROUNDS	6u

/* Parent, child and grandchild are in swap; swapoff brings all of them back. */
QUIRE_CASE_SIZES(fork, swapoff, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct peer peer, next;
	char *at;

	memcg_enter();
	reclaim_nothing_else();
	swap_on(SWAP_MIB);
	at = fork_range(kib);
	if (!peer_fork(&peer)) {
		if (!peer_fork(&next)) {
			peer_wait(&next);
			EXPECT_EQ(pagemap_swapped(at, pages), 0);
			expect_content(at, pages, SEED, 0);
			peer_end(&next);
		}
		peer_turn(&peer);
		EXPECT_EQ(pagemap_swapped(at, pages), 0);
		peer_turn(&next);
		peer_join(&next, "the grandchild");
		expect_content(at, pages, SEED, 0);
		expect_writable(at, pages);
		peer_end(&peer);
	}
	peer_wait(&peer);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	swap_off();
	EXPECT_EQ(pagemap_swapped(at, pages), 0);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child");
	expect_content(at, pages, SEED_NEW, 0);
}

/* Forks children that check and write, until it is told to end. */
static void fork_until(char *at, size_t pages, volatile bool *end)
{
	pid_t pid;

	do {
		pid = fork_child();
		if (!pid) {
			expect_content(at, pages, SEED, 0);
			pattern_write(at, pages * PAGE_SIZE, SEED_CHILD);
			expect_content(at, pages, SEED_CHILD, 0);
			exit(STATUS_OK);
		}
		wait_child(pid, "a child of the race");
		expect_content(at, pages, SEED, 0);
	} while (!*end);
	exit(STATUS_OK);
}

QUIRE_CASE_FULL(fork, swapoff_race, 60000, KTAP_SIZES(4, 64))
{
	size_t pages = range_pages(kib);
	unsigned int i;
	bool *end;
	pid_t pid;
	char *at;

	memcg_enter();
	reclaim_nothing_else();
	end = map_or_die(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < ROUNDS; i++) {
		swap_on(SWAP_MIB);
		at = fork_range(kib);
		*end = false;
		pid = fork_child();
		if (!pid)
			fork_until(at, pages, end);
		usleep(1000 * i);
		swap_off();
		__atomic_store_n(end, true, __ATOMIC_SEQ_CST);
		wait_child(pid, "the process that forks");
		expect_content(at, pages, SEED, 0);
		range_drop(at, pages);
	}
}
