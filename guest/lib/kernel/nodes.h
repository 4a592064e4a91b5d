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
 * NUMA balancing every few milliseconds of run time, or as at boot. The entries
 * of pages become hints if another node is near, or if the process has two
 * threads. A process or thread has its period from when it began. Returns false
 * on a kernel without.
 */
bool nodes_balance_often(bool often);
/*
 * Allocates from the node that this CPU is not of, and takes hints, but migrates
 * nothing: of a process with one thread, pages of its own node are left alone.
 */
void nodes_hint_other(void);
/* Only switches it on or off, after nodes_balance_often(). */
void nodes_balance(bool on);
/*
 * Switches it on, and runs until the kernel has made so many entries hints, or
 * dies.
 */
void nodes_give_hints(size_t pages);

#endif
