/* SPDX-License-Identifier: GPL-2.0 */
/* Pages under which the memory fails. */
#ifndef QUIRE_POISON_H
#define QUIRE_POISON_H

#include <stdbool.h>

/*
 * Make the page unusable; it is lost to the system until the next boot. The
 * kernel may tell the process so by a SIGBUS, before any access. False when the
 * kernel cannot free it from its users (errno).
 */
bool poison_page(char *page);

#endif
