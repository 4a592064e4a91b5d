/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel's mm selftests call of libnuma, on top of the system calls:
 * the library is not to be had for a foreign architecture without a second
 * set of packages. Names and meaning are libnuma's (numa(3)).
 */
#ifndef QUIRE_STANDIN_NUMA_H
#define QUIRE_STANDIN_NUMA_H

#include <stddef.h>

#define NUMA_NODES	1024

struct bitmask {
	unsigned long size;	/* in bits */
	unsigned long maskp[NUMA_NODES / (8 * sizeof(unsigned long))];
};

/* The nodes this process may have memory from. */
extern struct bitmask *numa_all_nodes_ptr;

int numa_available(void);	/* -1: no */
int numa_num_task_cpus(void);
int numa_max_possible_node(void);
int numa_max_node(void);
int numa_bitmask_isbitset(const struct bitmask *mask, unsigned int bit);
/* Bytes, -1 for a node that is not there; freep must be NULL. */
long numa_node_size(int node, long *freep);
/* Pages bound to the node; NULL if they cannot be had. */
void *numa_alloc_onnode(size_t size, int node);
void numa_free(void *start, size_t size);

#endif
