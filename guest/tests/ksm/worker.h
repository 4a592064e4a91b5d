/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces between the files of the ksm cases. */
#ifndef QUIRE_TESTS_KSM_WORKER_H
#define QUIRE_TESTS_KSM_WORKER_H

#include <stdio.h>

#include "ksm.h"

#define KSM_CGROUP	"/sys/fs/cgroup/ksm"

/* Makes the pipes to all possible workers; call before the first fork. */
void workers_open(void);

#endif
