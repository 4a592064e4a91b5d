/* SPDX-License-Identifier: GPL-2.0 */
/* What concerns the whole run: all memory, all processes, all counters. */
#ifndef QUIRE_SOAK_SYSTEM_H
#define QUIRE_SOAK_SYSTEM_H

#include "soak.h"

/* census.c: called by each worker, at rest. */
void census_take(void);
/*
 * Called by main: all rest, all is swapped out, counted, checked, swapped in.
 */
void census(const pid_t *workers);

/* weather.c: what the system does meanwhile. */
void weather_begin(void);
void weather_pass(struct actor *self);
void weather_ksm(bool run);
void weather_end(void);

/* cgroup.c */
#define CGROUP	"/sys/fs/cgroup/quire-soak"

void cgroup_make(unsigned long limit_kib);
void cgroup_enter(void);
void cgroup_reclaim(const char *amount);
unsigned long cgroup_number(const char *file);
/* A field of a file with lines "name number". */
unsigned long cgroup_field(const char *file, const char *field);
void cgroup_remove(void);

/* leaks.c: the system's counters before and after the workers. */
void leaks_before(void);
/* Reports what has grown since. */
bool leaks_none(void);

/* events.c: did the kernel do enough for a meaningful test? */
void events_before(void);
bool events_enough(void);

#endif
