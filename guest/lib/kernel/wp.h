/* SPDX-License-Identifier: GPL-2.0 */
/* Write protection by userfaultfd of some pages of each folio of a range. */
#ifndef QUIRE_WP_H
#define QUIRE_WP_H

#include <stddef.h>

#include "kernel/uffd.h"
#include "kernel/uffd_watch.h"
#include "memory/mask.h"

/*
 * UFFD_FEATURE_* bits: faults report their cause; shared memory is supported.
 */
#define WP_FEATURES	(UFFD_FEATURE_PAGEFAULT_FLAG_WP |		\
			 UFFD_FEATURE_WP_HUGETLBFS_SHMEM)

/*
 * Opens a userfaultfd that protects the pages in the mask, and checks that it
 * does. wp_protect_with() uses these features.
 */
int wp_protect(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask);
int wp_protect_with(uint64_t features, char *addr, size_t pages,
		    unsigned long kib, const struct mask *mask);
/*
 * Writes SEED_NEW to all pages. Protection must stop the writes to pages in the
 * mask and no others. expect_watch_stopped() uses an existing watch.
 */
void expect_wp_stopped(int uffd, char *addr, size_t pages, unsigned long kib,
		       const struct mask *mask);
void expect_watch_stopped(struct uffd_watch *watch, char *addr, size_t pages,
			  unsigned long kib, const struct mask *mask);

#endif
