/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.c and test.c run a program, file.c is about the file that it is, and
 * ktap.c reads what a test reports.
 */
#ifndef QUIRE_PROGRAM_H
#define QUIRE_PROGRAM_H

#include <stddef.h>

/* Of virtual time; one that sleeps for ever is there in no time. */
#define PROGRAM_LIMIT_MS	120000u

/* The words: a path, and what the program gets as arguments. */
int program_bench(size_t nr, char *const *words);
int program_test(size_t nr, char *const *words);

/* Dies, and says what to do, if that is no program for here. */
void program_check(const char *path);
/* The file's name, without the directory. */
const char *program_name(const char *path);

#endif
