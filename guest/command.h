/* SPDX-License-Identifier: GPL-2.0 */
/* The words that init and its shell understand. */
#ifndef QUIRE_COMMAND_H
#define QUIRE_COMMAND_H

#include <stddef.h>

#define COMMAND_WORDS "bench WORKLOAD [key=value ...] | test PATTERN ... | " \
		      "fuzz [cover] | soak [key=value ...] | " \
		      "selftests PATTERN ... | list | shell | " \
		      "program bench PATH [key=value ...] | " \
		      "program test PATH [argument ...] | " \
		      "program run PATH [argument ...]"

/* Runs one command in this process; returns or exits with its status. */
int command_run(size_t nr, char *const *words);

/* As a program of a running system, not as its init; returns the exit status. */
int ordinary_main(size_t nr, char *const *words);

#endif
