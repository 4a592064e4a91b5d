/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A buffer that is registered with io_uring (CONFIG_IO_URING): it is pinned for
 * writing, and the kernel never marks it dirty.
 */
#ifndef QUIRE_URING_H
#define QUIRE_URING_H

#include <stdbool.h>
#include <stddef.h>

/* False if the kernel has no io_uring. */
bool uring_register(char *addr, size_t len);
/* Reads len bytes from the start of the file into the registered buffer. */
void uring_read(int fd, char *addr, size_t len);
void uring_unregister(void);

#endif
