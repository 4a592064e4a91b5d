/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages that are pinned (FOLL_PIN), as they are by direct I/O: a write to a
 * block device of one page of each folio, whose last page is missing and waited
 * for, so that the others stay pinned until pin_end(). No kernel option and no
 * test module is needed for that.
 */
#ifndef QUIRE_PIN_H
#define QUIRE_PIN_H

#include <stddef.h>

#define PIN_MAX 16u	/* pages */

struct pin;

/*
 * Pin the pages of the range at that index in each folio, PIN_MAX at most; each
 * has to be exclusive, or it would be copied. Uses the spare zram device.
 */
struct pin *pin_folios(char *addr, size_t pages, unsigned long kib,
		       size_t index);
unsigned int pin_count(const struct pin *pin);
/* Let the write go on and end; what was written is what the pages hold now. */
void pin_end(struct pin *pin);

#endif
