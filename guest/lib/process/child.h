/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_CHILD_H
#define QUIRE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * fork() that dies on error. The harness kills the process group of a case at
 * its end, so a child that hangs does not outlive its case.
 */
pid_t fork_child(void);
/*
 * Waits for a forked child; dies, with its signal or status, unless it exited
 * 0.
 */
void wait_child(pid_t pid, const char *what);

/* Waits for all children in the same way. */
void wait_children(const char *what);

/*
 * Waits at most that long, without waking up. Returns false if it still runs.
 */
bool wait_within(pid_t pid, int *status, unsigned int ms);

#endif
