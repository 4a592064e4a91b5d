/* SPDX-License-Identifier: GPL-2.0 */
/* Errors and memory, for each file of the plugin. */
#ifndef QUIRE_UTIL_H
#define QUIRE_UTIL_H

#include <stddef.h>

/* Prints an error on stderr and ends QEMU: only for errors that are fatal. */
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *fmt, ...);

/* Prints an error on stderr. */
__attribute__((format(printf, 1, 2)))
void complain(const char *fmt, ...);

/* calloc() and realloc() that die instead of returning NULL. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);

#endif
