/* SPDX-License-Identifier: GPL-2.0 */
/* Pages with a simulated memory failure. */
#ifndef QUIRE_POISON_H
#define QUIRE_POISON_H

#include <stdbool.h>

/* Whether this kernel has memory failures. */
bool poison_is_here(void);
/* Skips the case on a kernel without memory failures. */
void poison_or_skip(void);

/*
 * Makes the page unusable until the next boot. The kernel may send SIGBUS to
 * the process at once, before any access. Returns false, with errno set, if the
 * kernel cannot unmap the page from its users.
 */
bool poison_page(char *page);

#endif
