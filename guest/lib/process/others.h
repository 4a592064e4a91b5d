/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads of this process on the machine's other CPUs, so that these have run
 * it: a TLB flush must then reach them. This thread stays on CPU 0.
 */
#ifndef QUIRE_OTHERS_H
#define QUIRE_OTHERS_H

/*
 * "running": they run in user space until this process ends; "idle": they sleep
 * after they have run, and their CPUs idle with this process's page table, which
 * x86 calls lazy; "none": there are no threads. Dies if there is one CPU only
 * and `how` is not "none".
 */
void others_start(const char *how);

/*
 * Gives the other CPUs turns for what is pending there, the tick above all;
 * otherwise they would do it when something waits for them.
 */
void others_catch_up(void);

#endif
