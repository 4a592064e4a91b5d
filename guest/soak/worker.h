/* SPDX-License-Identifier: GPL-2.0 */
/* The workers: processes that main starts, with several threads each. */
#ifndef QUIRE_SOAK_WORKER_H
#define QUIRE_SOAK_WORKER_H

#include "soak.h"

/*
 * Seconds without any operation, or until workers exit: then something hangs.
 */
#define HUNG_S		300

void worker(unsigned int number, int file, int shared)
	__attribute__((noreturn));

/* workers.c, in main: all of them. The process number of an exited one is 0. */
void workers_start(pid_t *workers);
/* A worker exits when it is told to; any other exit is an error. */
void workers_judge(pid_t *workers);
bool workers_left(const pid_t *workers);
/* Tells them to end, and waits; kills those that hang. */
void workers_end(pid_t *workers);

#endif
