/* SPDX-License-Identifier: GPL-2.0 */
/* Memory nodes, and moving pages between them. */
#ifndef QUIRE_NODES_H
#define QUIRE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Are there two nodes, 0 and 1? */
bool nodes_two(void);
/* Allocates only from the node from now on; from all of them if it is negative. */
void nodes_allocate_from(int node);
/* The node of a page of this process, or a negative error number. */
int node_of(const void *addr);
/*
 * move_pages() of what a process maps there, pages of 4 KiB, to the node: large
 * folios as a whole, shared ones too. Some may stay. Returns 0 or an error
 * number.
 */
int node_move(pid_t pid, char *at, size_t pages, int node);

/*
 * NUMA balancing each millisecond of run time, or as at boot. The entries of
 * pages become hints if another node is near, or if the process has two threads.
 * Returns false on a kernel without.
 */
bool nodes_balance_often(bool often);

#endif
