/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages that are pinned (FOLL_PIN) by direct I/O: a write to a block device of
 * one page of each folio. The last page is missing and its fault waits, so the
 * others stay pinned until pin_end(). This needs no kernel option and no test
 * module.
 */
#ifndef QUIRE_PIN_H
#define QUIRE_PIN_H

#include <stddef.h>

#define PIN_MAX 16u	/* pages */

struct pin;

/*
 * Pins one page of each folio of the range, the one at that index, at most
 * PIN_MAX pages. Each page has to be exclusive; otherwise the kernel copies it.
 * Uses the spare zram device.
 */
struct pin *pin_folios(char *addr, size_t pages, unsigned long kib,
		       size_t index);
/*
 * The same for writing: a read from the device, which marks the pages dirty when
 * it ends. Pinned page n then holds page n of the pattern PIN_SEED.
 */
#define PIN_SEED 0x9149ul
struct pin *pin_folios_written(char *addr, size_t pages, unsigned long kib,
			       size_t index);
unsigned int pin_count(const struct pin *pin);
/*
 * Completes the I/O. The device and the pages then have the same contents.
 */
void pin_end(struct pin *pin);

#endif
