/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that may fault. Each returns 0, or the number of the signal that the
 * access raised: SIGSEGV or SIGBUS. Several threads may use them at once. Every
 * process calls probe_init() once; the handlers stay installed.
 */
#ifndef QUIRE_PROBE_H
#define QUIRE_PROBE_H

#include <stddef.h>
#include <stdint.h>

void probe_init(void);

/* Reads or writes one aligned word. On a fault *value is unchanged. */
int probe_read(const void *addr, uint64_t *value);
int probe_write(void *addr, uint64_t value);
/* Any access: a function that can be interrupted anywhere and called again. */
int probe_call(void (*call)(void *arg), void *arg);

/* The same for nr words, `stride` bytes apart; the first fault ends it. */
int probe_read_words(const void *addr, size_t stride, uint64_t *word, size_t nr);
int probe_write_words(void *addr, size_t stride, const uint64_t *word, size_t nr);

#endif
