/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a program that does not know the harness: its output, its time limit,
 * its end.
 */
#ifndef QUIRE_WATCH_H
#define QUIRE_WATCH_H

/*
 * Calls run(arg), which may exec, in a child with its own process group. Its
 * output and errors become lines on the results port, after "# ". Returns its
 * exit status, or, when a signal or the time limit ended it, STATUS_FAILED with
 * a diagnostic.
 */
int watch(void (*run)(const void *arg), const void *arg, unsigned int ms);

/*
 * The same, but passes each line of its output to line(), without the newline.
 */
typedef void watch_line(void *to, const char *text);
int watch_lines(void (*run)(const void *arg), const void *arg, unsigned int ms,
		watch_line *line, void *to);

#endif
