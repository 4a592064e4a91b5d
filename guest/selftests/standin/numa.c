// SPDX-License-Identifier: GPL-2.0
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numa.h"
#include "numaif.h"

#define BITS	(8 * sizeof(unsigned long))

static struct bitmask all_nodes = { .size = NUMA_NODES };
struct bitmask *numa_all_nodes_ptr = &all_nodes;

static void __attribute__((constructor)) find_nodes(void)
{
	syscall(SYS_get_mempolicy, NULL, all_nodes.maskp, NUMA_NODES, NULL,
		MPOL_F_MEMS_ALLOWED);
}

int numa_available(void)
{
	return syscall(SYS_get_mempolicy, NULL, NULL, 0, NULL, 0) ? -1 : 0;
}

int numa_num_task_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

int numa_max_possible_node(void)
{
	return NUMA_NODES - 1;
}

int numa_bitmask_isbitset(const struct bitmask *mask, unsigned int bit)
{
	return bit < mask->size && mask->maskp[bit / BITS] >> bit % BITS & 1;
}

unsigned int numa_bitmask_weight(const struct bitmask *mask)
{
	unsigned int bit, weight = 0;

	for (bit = 0; bit < mask->size; bit++)
		weight += numa_bitmask_isbitset(mask, bit);
	return weight;
}

int numa_max_node(void)
{
	int node;

	for (node = NUMA_NODES - 1; node > 0; node--) {
		if (numa_bitmask_isbitset(&all_nodes, node))
			break;
	}
	return node;
}

long numa_node_size(int node, long *freep __attribute__((unused)))
{
	char path[64], line[128];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo",
		 node);
	file = fopen(path, "r");
	if (!file)
		return -1;
	while (kib < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "Node %*d MemTotal: %ld kB", &kib);
	fclose(file);
	return kib < 0 ? -1 : kib * 1024;
}

void *numa_alloc_onnode(size_t size, int node)
{
	struct bitmask mask = { .size = NUMA_NODES };
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	mask.maskp[node / BITS] = 1ul << node % BITS;
	if (!syscall(SYS_mbind, start, size, MPOL_BIND, mask.maskp, NUMA_NODES,
		     0))
		return start;
	munmap(start, size);
	return NULL;
}

void numa_free(void *start, size_t size)
{
	munmap(start, size);
}

long move_pages(int pid, unsigned long count, void **pages, const int *nodes,
		int *status, int flags)
{
	return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}
