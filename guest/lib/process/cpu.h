/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_CPU_H
#define QUIRE_CPU_H

/*
 * Stay on one CPU, so that the pages of this process are not hidden from
 * reclaim in the per-CPU lists of another one.
 */
void stay_on_cpu(unsigned int cpu);
unsigned int cpu_count(void);

#endif
