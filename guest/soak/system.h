/* SPDX-License-Identifier: GPL-2.0 */
/* What concerns the whole run: all memory, all processes, all counters. */
#ifndef QUIRE_SOAK_SYSTEM_H
#define QUIRE_SOAK_SYSTEM_H

#include "soak.h"

/* accounting.c: called by each worker, at rest. */
void account_take(void);
/*
 * Called by main: all rest, all is swapped out, counted, checked, swapped in.
 */
void accounting(const pid_t *workers);

/* background.c: what the system does meanwhile. */
void background_begin(void);
void background_pass(struct actor *self, const pid_t *workers);
/* Before the workers end. */
void background_rest(void);
void background_ksm(bool run);
void background_end(void);

/* cgroup.c */
#define CGROUP	"/sys/fs/cgroup/quire-soak"

void cgroup_make(unsigned long limit_kib);
void cgroup_enter(void);
void cgroup_reclaim(const char *amount);
unsigned long cgroup_number(const char *file);
void cgroup_remove(void);

/* leaks.c: the system's counters before and after the workers. */
void leaks_before(void);
/* Reports what has grown since. */
bool leaks_none(void);

/* events.c: did the kernel do enough for a meaningful test? */
void events_before(void);
bool events_enough(void);

#endif
