/* SPDX-License-Identifier: GPL-2.0 */
/* Errors and memory: what each file of the plugin needs. */
#ifndef QUIRE_UTIL_H
#define QUIRE_UTIL_H

#include <stddef.h>

/* Say on stderr what failed and end QEMU: only for what cannot be survived. */
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *fmt, ...);

/* Say on stderr what failed. */
__attribute__((format(printf, 1, 2)))
void complain(const char *fmt, ...);

/* calloc() and realloc() that do not come back empty-handed. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);

#endif
