/* SPDX-License-Identifier: GPL-2.0 */
/* A distribution's userland on a disk, in which init and its children run. */
#ifndef QUIRE_ROOTFS_H
#define QUIRE_ROOTFS_H

#include <stdbool.h>

/* Where the userland has the initramfs, with our program as init. */
#define INITRAMFS	"/quire"

/*
 * With quire_root=DISK on the kernel command line: makes the ext4 on that disk
 * this process's root. Init calls it before it mounts anything else.
 */
void rootfs_enter(void);
/* Whether this is such a guest. */
bool rootfs_here(void);
/* Writes all back, so that the disk can be used again. */
void rootfs_leave(void);

#endif
