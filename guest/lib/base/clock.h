/* SPDX-License-Identifier: GPL-2.0 */
/* Time of the guest, which is virtual under -icount. */
#ifndef QUIRE_CLOCK_H
#define QUIRE_CLOCK_H

void sleep_ms(unsigned int ms);
/* The monotonic clock. */
long now_ms(void);

#endif
