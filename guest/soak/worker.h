/* SPDX-License-Identifier: GPL-2.0 */
/* The workers: processes that main starts, with several threads each. */
#ifndef QUIRE_SOAK_WORKER_H
#define QUIRE_SOAK_WORKER_H

#include "soak.h"

/* Seconds without any operation, or for workers to end: something hangs. */
#define HUNG_S		300

void worker(unsigned int number, int file, int shared)
	__attribute__((noreturn));

/* workers.c, in main: all of them; 0 is the process number of one that ended. */
void workers_start(pid_t *workers);
/* A worker ends when it is told to; any other end is wrong. */
void workers_judge(pid_t *workers);
bool workers_left(const pid_t *workers);
/* Tell them that it is over, and wait; those that hang are killed. */
void workers_end(pid_t *workers);

#endif
