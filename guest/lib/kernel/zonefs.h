/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zonefs: a filesystem that shows each zone of a zoned block device as one
 * file. It is small, uses iomap and has large folios; the file of a
 * conventional zone can be mapped shared and writable.
 */
#ifndef QUIRE_ZONEFS_H
#define QUIRE_ZONEFS_H

#include <stddef.h>

/*
 * Makes a null_blk device, formats and mounts it, in place of that of an earlier
 * call. Returns its file, open, of that many MiB, a power of two. The first len
 * bytes are written, by writes of kib: they give the page cache folios of that
 * size. Only an explicit sync cleans them from then on.
 */
int zonefs_file(unsigned long mib, size_t len, unsigned long kib);
/*
 * Reads the file's data from the device, past the page cache: what would be left
 * after a power cut. `to` and len are aligned to pages.
 */
void zonefs_read_device(void *to, size_t len);

#endif
