/* SPDX-License-Identifier: GPL-2.0 */
/* Write protection by userfaultfd on some pages of each folio of a range. */
#ifndef QUIRE_WP_H
#define QUIRE_WP_H

#include <stddef.h>

#include "memory/mask.h"

/*
 * A userfaultfd that protects the pages in the mask, and shows that it does.
 * Also for shared memory.
 */
int wp_protect(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask);
/* Write SEED_NEW to all: writes to pages in the mask are stopped, no others. */
void expect_wp_stopped(int uffd, char *addr, size_t pages, unsigned long kib,
		       const struct mask *mask);

#endif
