// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "memory/share.h"
#include "process/child.h"
#include "report/die.h"

bool fork_without(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *mask)
{
	mask_advise(addr, pages, kib, mask, MADV_DONTFORK);
	if (!peer_fork(peer))
		return false;
	range_advise(addr, pages, MADV_DOFORK);
	return true;
}

void write_shared(char *addr, size_t pages, unsigned long kib,
		  const struct mask *alone, uint64_t seed)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (!masked(alone, n, kib))
			pattern_write_page(page_at(addr, n), seed, n);
	}
}

void expect_shared(char *addr, size_t pages, unsigned long kib,
		   const struct mask *alone, uint64_t seed)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (!masked(alone, n, kib))
			expect_content(page_at(addr, n), 1, seed, n);
	}
}

void sharer_looks(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *alone)
{
	peer_wait(peer);
	expect_shared(addr, pages, kib, alone, SEED);
	peer_go(peer);
}

void sharer_writes(struct peer *peer, char *addr, size_t pages,
		   unsigned long kib, const struct mask *alone)
{
	peer_wait(peer);
	expect_shared(addr, pages, kib, alone, SEED);
	write_shared(addr, pages, kib, alone, SEED_CHILD);
	peer_turn(peer);
	expect_shared(addr, pages, kib, alone, SEED_CHILD);
	peer_end(peer);
}

void fork_and_forget(void)
{
	pid_t pid = fork_child();

	if (!pid)
		exit(STATUS_OK);
	wait_child(pid, "a child that only ends");
}
