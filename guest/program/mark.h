/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_PROGRAM_MARK_H
#define QUIRE_PROGRAM_MARK_H

/*
 * For a script in a userland: `/quire/init start` and `/quire/init stop` are
 * quire_start() and quire_stop(). The second also prints, as quire.h's counters,
 * the time between them and what changed in /proc/vmstat.
 */
int mark_start(void);
int mark_stop(void);

#endif
