/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test device that mirrors this process's memory (CONFIG_TEST_HMM,
 * lib/test_hmm.c). Its ioctl is no stable interface; lib/test_hmm_uapi.h has it.
 */
#ifndef QUIRE_DMIRROR_H
#define QUIRE_DMIRROR_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the device for this process; false if the kernel has none. */
bool dmirror_open(void);
void dmirror_close(void);
/*
 * Gives the page to the device alone: its entry is a device-exclusive one until
 * this process accesses it. On 6.12 this takes all pages of the folio.
 */
void dmirror_make_exclusive(char *page);
/* The same, but false if the page is not the device's alone afterwards. */
bool dmirror_try_make_exclusive(char *page);
/*
 * Moves the pages into the device's memory, until this process accesses them, and
 * copies them to the buffer as well.
 */
void dmirror_take(void *at, void *buffer, size_t pages);
/* The device writes the contents of the buffer to the pages. */
void dmirror_write(void *at, const void *buffer, size_t pages);
/* Is the entry of the page a device-exclusive one? */
bool dmirror_is_exclusive(const char *page);

#endif
