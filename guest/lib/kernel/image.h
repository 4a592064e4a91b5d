/* SPDX-License-Identifier: GPL-2.0 */
/* XFS or ext4, whose new filesystem the host has made: the guest has no mkfs. */
#ifndef QUIRE_IMAGE_H
#define QUIRE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* The type of the filesystem in the initramfs, for mount(); NULL: none. */
const char *image_type(void);
/* Makes a null_blk device with the filesystem. It has room for files of mib. */
void image_make(const char *name, unsigned long mib);
/* Where the first len bytes of the file are on the device, in one piece. */
uint64_t image_place(int file, size_t len, unsigned long mib);

#endif
