/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file on a filesystem with large folios, on a null_blk device: XFS or ext4 if
 * the initramfs has an image of it (configs/xfs.config, configs/ext4.config), or
 * else zonefs. It can be mapped shared and writable.
 */
#ifndef QUIRE_LARGE_FILE_H
#define QUIRE_LARGE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes the device and mounts it, in place of that of an earlier call. Returns
 * its file, open, with room for that many MiB, a power of two. The first len
 * bytes are written, by writes of kib: they give the page cache folios of that
 * size. Only an explicit sync cleans them from then on.
 */
int large_file(unsigned long mib, size_t len, unsigned long kib);
/*
 * Does its filesystem have large folios in every kernel that has it? ext4 has
 * them from 6.16 on.
 */
bool large_file_any_kernel(void);
/*
 * Reads the file's data from the device, past the page cache: what would be left
 * after a power cut. `to` and len are aligned to pages.
 */
void large_file_read_device(void *to, size_t len);

#endif
