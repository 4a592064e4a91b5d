/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zonefs: a filesystem that shows each zone of a zoned block device as one
 * file. It is small, uses iomap and has large folios; the file of a
 * conventional zone can be mapped shared and writable.
 */
#ifndef QUIRE_ZONEFS_H
#define QUIRE_ZONEFS_H

#include <stddef.h>
#include <stdint.h>

/* Makes and formats a null_blk device with a file of that size, a power of two. */
void zonefs_make(const char *name, unsigned long mib);
/* Where the file begins on the device: in the zone after the super block's. */
uint64_t zonefs_place(int file, size_t len, unsigned long mib);

#endif
