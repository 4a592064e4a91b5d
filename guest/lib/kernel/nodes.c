// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/nodes.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "report/die.h"

#define BALANCING	"/proc/sys/kernel/numa_balancing"
#define SCAN		"/sys/kernel/debug/sched/numa_balancing/"
#define HINTS_MS	8000

bool nodes_two(void)
{
	return !access("/sys/devices/system/node/node1", F_OK);
}

void nodes_allocate_from(int node)
{
	unsigned long mask = node < 0 ? 0 : 1ul << node;

	if (syscall(SYS_set_mempolicy, mask ? MPOL_BIND : MPOL_DEFAULT,
		    mask ? &mask : NULL, mask ? 8 * sizeof(mask) : 0))
		die_errno("cannot allocate from node %d", node);
}

int node_of(const void *addr)
{
	void *addrs[] = { (void *)addr };
	int status = -EIO;

	if (syscall(SYS_move_pages, 0, 1ul, addrs, NULL, &status, 0))
		die_errno("cannot ask for the node of %p", addr);
	return status;
}

int node_move(pid_t pid, char *at, size_t pages, int node)
{
	void **addrs = allocate(pages, sizeof(*addrs));
	int *nodes = allocate(pages, sizeof(*nodes));
	int *status = allocate(pages, sizeof(*status));
	int error = 0;
	size_t n;

	for (n = 0; n < pages; n++) {
		addrs[n] = at + n * PAGE_SIZE;
		nodes[n] = node;
	}
	if (syscall(SYS_move_pages, pid, pages, addrs, nodes, status,
		    MPOL_MF_MOVE_ALL) < 0)
		error = errno;
	free(addrs);
	free(nodes);
	free(status);
	return error;
}

bool nodes_balance_often(bool often)
{
	unsigned int ms = often ? 1 : 1000;

	if (access(BALANCING, W_OK) || access(SCAN "scan_delay_ms", W_OK))
		return false;
	write_file(SCAN "scan_delay_ms", "%u", ms);
	write_file(SCAN "scan_period_min_ms", "%u", ms);
	/* 1000 ms for 2560 MiB is the least period */
	write_file(SCAN "scan_size_mb", "%u", often ? 16 : 256);
	nodes_balance(often || nodes_two());
	return true;
}

void nodes_balance(bool on)
{
	write_file(BALANCING, "%d", on);
}

void nodes_hint_other(void)
{
	unsigned int cpu, node;
	unsigned long mask;

	if (syscall(SYS_getcpu, &cpu, &node, NULL))
		die_errno("getcpu");
	mask = node ? 1ul : 2ul;
	if (syscall(SYS_set_mempolicy, MPOL_BIND | MPOL_F_NUMA_BALANCING, &mask,
		    8 * sizeof(mask)))
		die_errno("cannot take hints for memory of another node than %u",
			  node);
}

/* The kernel gives them in a timer tick, as soon as it may. */
void nodes_give_hints(size_t pages)
{
	unsigned long now, before = vmstat("numa_pte_updates");
	long end = now_ms() + HINTS_MS;

	nodes_balance(true);
	while ((now = vmstat("numa_pte_updates")) - before < pages) {
		if (now_ms() > end)
			die("only %lu hints for %zu pages", now - before, pages);
	}
}
