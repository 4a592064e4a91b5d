// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/nodes.h"
#include "proc/knob.h"
#include "report/die.h"

#define BALANCING	"/proc/sys/kernel/numa_balancing"
#define SCAN		"/sys/kernel/debug/sched/numa_balancing/"

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
	void **addrs = calloc(pages, sizeof(*addrs));
	int *nodes = calloc(pages, sizeof(*nodes));
	int *status = calloc(pages, sizeof(*status));
	int error = 0;
	size_t n;

	if (!addrs || !nodes || !status)
		die("no memory for lists of %zu pages", pages);
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
	write_file(BALANCING, "%d", often || nodes_two());
	return true;
}
