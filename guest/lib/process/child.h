/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_CHILD_H
#define QUIRE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * fork() that dies on error. The harness kills what is left of a case's
 * process group, so a child that hangs does not survive its case.
 */
pid_t fork_child(void);
/* Wait for a forked child; dies (naming signal or status) unless it exited 0. */
void wait_child(pid_t pid, const char *what);

/* Wait at most that long, without waking up meanwhile; false: it still runs. */
bool wait_within(pid_t pid, int *status, unsigned int ms);

#endif
