/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of libnuma that the kernel's mm selftests use, written with the
 * system calls. The library for a foreign architecture would need a second set
 * of packages. Names and meaning are libnuma's (numa(3)).
 */
#ifndef QUIRE_STANDIN_NUMA_H
#define QUIRE_STANDIN_NUMA_H

#include <stddef.h>

#define NUMA_NODES	1024

struct bitmask {
	unsigned long size;	/* in bits */
	unsigned long maskp[NUMA_NODES / (8 * sizeof(unsigned long))];
};

/* The nodes from which this process may allocate memory. */
extern struct bitmask *numa_all_nodes_ptr;

int numa_available(void);	/* -1: no */
int numa_num_task_cpus(void);
int numa_max_possible_node(void);
int numa_max_node(void);
unsigned int numa_bitmask_weight(const struct bitmask *mask);
int numa_bitmask_isbitset(const struct bitmask *mask, unsigned int bit);
/* Bytes, or -1 for a node that does not exist; freep must be NULL. */
long numa_node_size(int node, long *freep);
/* Pages bound to the node, or NULL if there are none. */
void *numa_alloc_onnode(size_t size, int node);
void numa_free(void *start, size_t size);

#endif
