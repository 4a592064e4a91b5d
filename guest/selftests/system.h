/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The system state in which the kernel's selftests start, as in run_vmtests.sh.
 */
#ifndef QUIRE_SELFTESTS_SYSTEM_H
#define QUIRE_SELFTESTS_SYSTEM_H

/* The folder of the programs, and their working directory. */
#define DIRECTORY "/selftests"

/* Call once: mounts the file systems that some programs are given. */
void selftests_mount(void);

/*
 * Call before each program: swap, hugetlb pages, and the settings with which a
 * kernel of our configuration boots.
 */
void selftests_prepare(void);

/*
 * Call after each program: ends all processes that it left behind, in any
 * group.
 */
void selftests_sweep(void);

#endif
