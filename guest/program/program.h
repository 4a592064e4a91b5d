/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.c and test.c run a program, file.c checks its file, and ktap.c reads
 * the report of a test.
 */
#ifndef QUIRE_PROGRAM_H
#define QUIRE_PROGRAM_H

#include <stddef.h>

/* Virtual time; a program that sleeps uses it up at once. */
#define PROGRAM_LIMIT_MS	120000u

/* The words: a path, and the arguments of the program. */
int program_bench(size_t nr, char *const *words);
int program_test(size_t nr, char *const *words);
/* Runs it, its output being diagnostics, and returns its status. */
int program_run(size_t nr, char *const *words);

/* Dies, with the remedy, if that program cannot run here. */
void program_check(const char *path);
/* The file's name, without the directory. */
const char *program_name(const char *path);

#endif
