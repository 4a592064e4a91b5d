// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/folio.h"
#include "migrate.h"
#include "process/child.h"
#include "process/cpu.h"
#include "process/map.h"
#include "report/die.h"

void move_to_node(pid_t pid, char *at, size_t pages, int node)
{
	int error = node_move(pid, at, pages, node);

	/* Nothing is mapped there any more, or the process has ended. */
	if (error && error != ENOENT && error != ESRCH)
		die("move_pages of %zu pages at %p: error %d", pages, at, error);
}

void migrate(char *at, size_t pages)
{
	int node = !node_of(at);
	size_t n;

	move_to_node(0, at, pages, node);
	for (n = 0; n < pages; n++) {
		int is = node_of(page_at(at, n));

		EXPECT(is == node || is == -ENOENT || is == -EFAULT,
		       "page %zu is on node %d, not %d", n, is, node);
	}
}

void migrate_fast(char *at, size_t pages, unsigned long kib)
{
	static void *addrs[2 * MOST_PMD_PAGES];
	static int nodes[2 * MOST_PMD_PAGES], status[2 * MOST_PMD_PAGES];
	int node = !node_of(at);
	size_t n, nr = 0;

	for (n = 0; n < pages && nr < ARRAY_SIZE(nodes); n += folio_pages(kib)) {
		addrs[nr] = page_at(at, n);
		nodes[nr++] = node;
	}
	/* Into the TLB */
	for (n = 0; n < pages; n++)
		*(volatile char *)page_at(at, n) += 1;
	if (syscall(SYS_move_pages, 0, nr, addrs, nodes, status,
		    MPOL_MF_MOVE_ALL))
		die_errno("move_pages of %zu folios at %p", nr, at);
}

void expect_folios(const char *at, size_t pages, unsigned long kib)
{
	size_t total;

	EXPECT_EQ(folio_count(at, pages * PAGE_SIZE, kib, &total), total);
}

struct mover mover_start(char *at, size_t pages)
{
	pid_t victim = getpid();
	struct mover mover = {
		.end = map_or_die(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	struct sched_param idle = { 0 };
	int node = 0;

	/* Not a sharer of the pages: a write to those would copy them. */
	range_advise(at, pages, MADV_DONTFORK);
	mover.pid = fork_child();
	if (mover.pid) {
		range_advise(at, pages, MADV_DOFORK);
		return mover;
	}
	stay_on_cpu(cpu_count() - 1);
	if (sched_setscheduler(0, SCHED_IDLE, &idle))
		die_errno("sched_setscheduler");
	while (!__atomic_load_n(mover.end, __ATOMIC_SEQ_CST)) {
		node = !node;
		move_to_node(victim, at, pages, node);
	}
	exit(STATUS_OK);
}

void mover_end(struct mover *mover)
{
	__atomic_store_n(mover->end, true, __ATOMIC_SEQ_CST);
	wait_child(mover->pid, "the process that moves the pages");
	munmap(mover->end, PAGE_SIZE);
}
