/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_CPU_H
#define QUIRE_CPU_H

/*
 * Stays on one CPU. Reclaim then finds all pages of this process: none is in
 * the per-CPU lists of another CPU.
 */
void stay_on_cpu(unsigned int cpu);
unsigned int cpu_count(void);

#endif
