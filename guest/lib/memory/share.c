// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/range.h"
#include "memory/share.h"
#include "process/child.h"
#include "report/die.h"

bool fork_without(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *mask)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run) {
		if (madvise(page_at(addr, n), run * PAGE_SIZE, MADV_DONTFORK))
			die_errno("MADV_DONTFORK of page %zu", n);
	}
	if (!peer_fork(peer))
		return false;
	if (madvise(addr, pages * PAGE_SIZE, MADV_DOFORK))
		die_errno("MADV_DOFORK");
	return true;
}

void fork_and_forget(void)
{
	pid_t pid = fork_child();

	if (!pid)
		exit(STATUS_OK);
	wait_child(pid, "a child that only ends");
}
