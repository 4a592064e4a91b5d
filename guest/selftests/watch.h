/* SPDX-License-Identifier: GPL-2.0 */
/* A program of others: its output, its time, its end. */
#ifndef QUIRE_SELFTESTS_WATCH_H
#define QUIRE_SELFTESTS_WATCH_H

/*
 * Run argv[0] of the current directory with its output and errors as lines on
 * the results port, behind "# ". Returns its exit status; STATUS_FAILED, with
 * a diagnostic, when a signal or the time limit ended it.
 */
int watch_program(char *const *argv, unsigned int ms);

#endif
