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

/* The same, with each line of its output handed to line(), without its end. */
typedef void watch_line(void *to, const char *text);
int watch_lines(void (*run)(const void *arg), const void *arg, unsigned int ms,
		watch_line *line, void *to);

#endif
