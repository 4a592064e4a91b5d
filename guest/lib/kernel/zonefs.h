/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zonefs: a filesystem that shows each zone of a zoned block device as one
 * file. It is small, uses iomap and has large folios; the file of a
 * conventional zone can be mapped shared and writable.
 */
#ifndef QUIRE_ZONEFS_H
#define QUIRE_ZONEFS_H

/*
 * Makes a null_blk device, formats and mounts it. Returns the path of a file of
 * that many MiB, a power of two. Once per boot.
 */
const char *zonefs_file(unsigned long mib);

#endif
