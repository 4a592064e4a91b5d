/* SPDX-License-Identifier: GPL-2.0 */
/* Constants of the kernel's interface that the headers of Debian 12 lack. */
#ifndef QUIRE_UAPI_H
#define QUIRE_UAPI_H

#include <linux/fs.h>
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
#ifndef UFFD_FEATURE_MOVE
#define UFFD_FEATURE_MOVE	(1 << 16)
#define UFFDIO_MOVE		_IOWR(UFFDIO, 0x05, struct uffdio_move)
#define UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES	(1ull << 1)

struct uffdio_move {
	__u64 dst;
	__u64 src;
	__u64 len;
	__u64 mode;
	__s64 move;	/* written by the kernel: bytes moved, or -errno */
};
#endif
#ifndef PAGEMAP_SCAN
#define PAGEMAP_SCAN		_IOWR('f', 16, struct pm_scan_arg)
#define PAGE_IS_WPALLOWED	(1 << 0)
#define PAGE_IS_WRITTEN		(1 << 1)
#define PAGE_IS_FILE		(1 << 2)
#define PAGE_IS_PRESENT		(1 << 3)
#define PAGE_IS_SWAPPED		(1 << 4)
#define PAGE_IS_PFNZERO		(1 << 5)
#define PM_SCAN_WP_MATCHING	(1 << 0)
#define PM_SCAN_CHECK_WPASYNC	(1 << 1)

struct page_region {
	__u64 start;
	__u64 end;
	__u64 categories;
};

struct pm_scan_arg {
	__u64 size;
	__u64 flags;
	__u64 start;
	__u64 end;
	__u64 walk_end;	/* written by the kernel */
	__u64 vec;
	__u64 vec_len;
	__u64 max_pages;
	__u64 category_inverted;
	__u64 category_mask;
	__u64 category_anyof_mask;
	__u64 return_mask;
};
#endif
#ifndef PAGE_IS_SOFT_DIRTY
#define PAGE_IS_SOFT_DIRTY	(1 << 7)
#endif
#ifndef UFFD_FEATURE_RWP
#define UFFD_FEATURE_RWP	(1 << 17)
#define UFFD_FEATURE_RWP_ASYNC	(1 << 18)
#define UFFDIO_REGISTER_MODE_RWP	(1ull << 3)
#define UFFDIO_RWPROTECT_MODE_RWP	(1ull << 0)
#define UFFDIO_RWPROTECT	_IOWR(UFFDIO, 0x09, struct uffdio_writeprotect)
#endif

#endif
