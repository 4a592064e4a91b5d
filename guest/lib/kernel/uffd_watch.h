/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that answers a userfaultfd. When a write faults on a protected page,
 * it removes the protection and records the fault. It records each move, too.
 */
#ifndef QUIRE_UFFD_WATCH_H
#define QUIRE_UFFD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uffd_watch;

/* Watches `pages` pages from addr on, with one flag for each. */
struct uffd_watch *uffd_watch_start(int uffd, char *addr, size_t pages);
/* Did write protection stop a write to this page? */
bool uffd_watch_stopped(const struct uffd_watch *watch, size_t page);
/* How many moves were reported, and the addresses of the last one. */
struct uffd_moved {
	size_t moves;
	uint64_t from, to, len;
};

struct uffd_moved uffd_watch_moved(struct uffd_watch *watch);
/* Ends the thread and frees the watch. */
void uffd_watch_end(struct uffd_watch *watch);

#endif
