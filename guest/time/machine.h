/* SPDX-License-Identifier: GPL-2.0 */
/* What this machine is, and whether its clock says anything about time. */
#ifndef QUIRE_TIME_MACHINE_H
#define QUIRE_TIME_MACHINE_H

/*
 * CLOCK_REAL: a CPU executes the instructions, with or without a hypervisor.
 * CLOCK_EMULATED: a program does. CLOCK_UNKNOWN: nothing here tells.
 */
enum clock_kind { CLOCK_REAL, CLOCK_EMULATED, CLOCK_UNKNOWN };

/* why gets the evidence. */
enum clock_kind machine_clock(const char **why);
const char *machine_clock_name(enum clock_kind kind);

/* The keys of the machine, into the JSON object that is open. */
void machine_describe(int cpu);

#endif
