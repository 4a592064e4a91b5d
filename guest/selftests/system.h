/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's selftests find when they start, as run_vmtests.sh does it. */
#ifndef QUIRE_SELFTESTS_SYSTEM_H
#define QUIRE_SELFTESTS_SYSTEM_H

/* Where the programs are; they are started there. */
#define DIRECTORY "/selftests"

/* Once: the file systems some programs want to be given. */
void selftests_mount(void);

/*
 * Before each program: swap, hugetlb pages, and the settings that a kernel of
 * our configuration boots with.
 */
void selftests_prepare(void);

/* After each program: end all that it left behind, in whatever group. */
void selftests_sweep(void);

#endif
