/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A null_blk device that keeps its data in memory. It completes each request in
 * the context that submits it (irqmode 0), so that counts repeat. Otherwise it
 * is a plain block device without moving parts: requests go through blk-mq and
 * its plugs, and the driver does not set BLK_FEAT_SYNCHRONOUS. Swap on it
 * therefore has no SWP_SYNCHRONOUS_IO, and writes and reads through bios and
 * the swap cache.
 */
#ifndef QUIRE_NULLB_H
#define QUIRE_NULLB_H

struct nullb {
	const char *name;		/* of the device in /dev */
	unsigned long mib;
	/*
	 * With zone_mib, a power of two, the device is zoned: the first
	 * `conventional` zones take random writes, and at least one does not.
	 */
	unsigned long zone_mib;
	unsigned long conventional;
	unsigned long delay_ms;		/* before a request completes, by a timer */
};

/* Creates the device. One of that name, which nobody may use, is removed. */
void nullb_create(const struct nullb *device);
/* Removes it; nobody may use it. */
void nullb_remove(const char *name);
/* Opened for writing. */
int nullb_open(const struct nullb *device);
/*
 * Writes zeroes to all of it. Otherwise the first write to each page would also
 * allocate the driver's memory for it.
 */
void nullb_fill(const struct nullb *device);

#endif
