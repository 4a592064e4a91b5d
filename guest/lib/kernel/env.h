/* SPDX-License-Identifier: GPL-2.0 */
/* The state of the system in which a test or a bench starts. */
#ifndef QUIRE_ENV_H
#define QUIRE_ENV_H

/*
 * Init calls this once. It stops background work that could run in a measured
 * region (khugepaged, ksmd, vmstat) and waits for deferred work of the boot.
 */
void env_quiesce(void);

/* Between test cases: no large folios, no swap, KSM stopped and unmerged. */
void env_reset(void);

/*
 * Returns right after a timer tick. The next few million instructions (one
 * period, less the margin) then run without an interrupt.
 */
void env_after_tick(void);

/*
 * Moves the folios of recent page faults from this CPU's LRU batches to the
 * lists. Otherwise the next system call that drains the batches pays for it.
 */
void env_drain_lru(void);

/*
 * Bits of /proc/sys/kernel/tainted. A warning, a bad page or an oops sets one.
 */
unsigned long env_taint(void);

#endif
