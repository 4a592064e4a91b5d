/* SPDX-License-Identifier: GPL-2.0 */
/* XFS, whose new filesystem the host has made: the guest has no mkfs. */
#ifndef QUIRE_XFS_H
#define QUIRE_XFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Has the initramfs an image of it? */
bool xfs_available(void);
/* Makes a null_blk device with the filesystem. It has room for files of mib. */
void xfs_make(const char *name, unsigned long mib);
/* Where the first len bytes of the file are on the device, in one piece. */
uint64_t xfs_place(int file, size_t len, unsigned long mib);

#endif
