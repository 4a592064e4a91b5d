/* SPDX-License-Identifier: GPL-2.0 */
/* mmap() and munmap() that die on error. */
#ifndef QUIRE_MAP_H
#define QUIRE_MAP_H

#include <stddef.h>
#include <sys/types.h>

/* Private anonymous read-write memory. If at is not NULL, exactly there. */
void *map_anon(void *at, size_t len);
void *map_or_die(void *at, size_t len, int prot, int flags, int fd, off_t off);
void unmap(void *addr, size_t len);

#endif
