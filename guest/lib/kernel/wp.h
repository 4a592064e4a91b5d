/* SPDX-License-Identifier: GPL-2.0 */
/* Write protection by userfaultfd on some pages of each folio of a range. */
#ifndef QUIRE_WP_H
#define QUIRE_WP_H

#include <stddef.h>

#include "kernel/uffd.h"
#include "kernel/uffd_watch.h"
#include "memory/mask.h"

/* UFFD_FEATURE_* bits: faults that tell their cause; also for shared memory. */
#define WP_FEATURES	(UFFD_FEATURE_PAGEFAULT_FLAG_WP |		\
			 UFFD_FEATURE_WP_HUGETLBFS_SHMEM)

/*
 * A userfaultfd that protects the pages in the mask, and shows that it does.
 * wp_protect_with(): one with these features.
 */
int wp_protect(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask);
int wp_protect_with(uint64_t features, char *addr, size_t pages,
		    unsigned long kib, const struct mask *mask);
/*
 * Write SEED_NEW to all: writes to pages in the mask are stopped, no others.
 * expect_watch_stopped(): where the userfaultfd is being watched already.
 */
void expect_wp_stopped(int uffd, char *addr, size_t pages, unsigned long kib,
		       const struct mask *mask);
void expect_watch_stopped(struct uffd_watch *watch, char *addr, size_t pages,
			  unsigned long kib, const struct mask *mask);

#endif
