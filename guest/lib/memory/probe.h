/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that may fault. Each returns 0, or the number of the signal the
 * access raised: SIGSEGV or SIGBUS. Safe in several threads at once; the
 * handlers stay installed after probe_init(), which every process calls once.
 */
#ifndef QUIRE_PROBE_H
#define QUIRE_PROBE_H

#include <stddef.h>
#include <stdint.h>

void probe_init(void);

/* Read or write one aligned word. On a fault *value is left alone. */
int probe_read(const void *addr, uint64_t *value);
int probe_write(void *addr, uint64_t value);
/* Any access: a function that can be left at any place, and called again. */
int probe_call(void (*call)(void *arg), void *arg);

/* The same for nr words, each `stride` bytes after the one before; the first fault ends it. */
int probe_read_words(const void *addr, size_t stride, uint64_t *word, size_t nr);
int probe_write_words(void *addr, size_t stride, const uint64_t *word, size_t nr);

#endif
