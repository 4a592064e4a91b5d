/* SPDX-License-Identifier: GPL-2.0 */
/* A process that knows nothing of us: its output, its time, its end. */
#ifndef QUIRE_WATCH_H
#define QUIRE_WATCH_H

/*
 * Call run(arg), which may exec, in a child with a process group of its own.
 * Its output and errors become lines on the results port, behind "# ". Returns
 * its exit status; STATUS_FAILED, with a diagnostic, when a signal or the time
 * limit ended it.
 */
int watch(void (*run)(const void *arg), const void *arg, unsigned int ms);

#endif
