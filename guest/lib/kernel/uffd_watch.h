/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that answers a userfaultfd: it lifts the write protection of a page
 * that is written to, and takes note of that and of every move it is told of.
 */
#ifndef QUIRE_UFFD_WATCH_H
#define QUIRE_UFFD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uffd_watch;

/* Watch what happens to [addr, addr + pages) from now on; one page a flag. */
struct uffd_watch *uffd_watch_start(int uffd, char *addr, size_t pages);
/* Was a write to this page stopped by write protection? */
bool uffd_watch_stopped(const struct uffd_watch *watch, size_t page);
/* How many moves were reported, and where the last one came from and went. */
size_t uffd_watch_moves(const struct uffd_watch *watch);
uint64_t uffd_watch_from(const struct uffd_watch *watch);
uint64_t uffd_watch_to(const struct uffd_watch *watch);
uint64_t uffd_watch_len(const struct uffd_watch *watch);
/* End the thread and free the watch. */
void uffd_watch_end(struct uffd_watch *watch);

#endif
