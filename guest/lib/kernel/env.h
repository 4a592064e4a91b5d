/* SPDX-License-Identifier: GPL-2.0 */
/* The system state a test or a bench starts from. */
#ifndef QUIRE_ENV_H
#define QUIRE_ENV_H

/*
 * Once, by init: no background work that could fall into a measured region
 * (khugepaged, ksmd, vmstat), no stale deferred work from the boot.
 */
void env_quiesce(void);

/* Between test cases: no large folios, no swap, KSM stopped and unmerged. */
void env_reset(void);

/*
 * Return right after a timer tick, so that the next few million instructions
 * (one tick period, less the margin) run without an interrupt.
 */
void env_after_tick(void);

/*
 * Move what recent page faults left in this CPU's LRU batches to the lists, so
 * that not the next system call that drains them pays for it.
 */
void env_drain_lru(void);

/*
 * Bits of /proc/sys/kernel/tainted: a warning, a bad page or an oops sets one.
 */
unsigned long env_taint(void);

#endif
