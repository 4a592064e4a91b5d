/* SPDX-License-Identifier: GPL-2.0 */
/* Constants of the kernel's interface that the headers of Debian 12 lack. */
#ifndef QUIRE_UAPI_H
#define QUIRE_UAPI_H

#include <linux/userfaultfd.h>
#include <sys/mman.h>

#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE	0x08
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED	(1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC	(1 << 15)
#endif
#ifndef UFFD_FEATURE_RWP
#define UFFD_FEATURE_RWP	(1 << 17)
#define UFFD_FEATURE_RWP_ASYNC	(1 << 18)
#define UFFDIO_REGISTER_MODE_RWP	(1ull << 3)
#define UFFDIO_RWPROTECT_MODE_RWP	(1ull << 0)
#define UFFDIO_RWPROTECT	_IOWR(UFFDIO, 0x09, struct uffdio_writeprotect)
#endif

#endif
