/* SPDX-License-Identifier: GPL-2.0 */
/* What the ksm cases' own files know of each other. */
#ifndef QUIRE_TESTS_KSM_CREW_H
#define QUIRE_TESTS_KSM_CREW_H

#include <stdio.h>

#include "ksm.h"

#define KSM_CGROUP	"/sys/fs/cgroup/ksm"

/* Make the pipes to every worker there will be; before the first fork. */
void crew_open(void);

#endif
