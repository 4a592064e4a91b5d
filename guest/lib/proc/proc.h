/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers from proc and sysfs. All die when the field does not exist. */
#ifndef QUIRE_PROC_H
#define QUIRE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A "Name: 123 kB" field in /proc/self/smaps of the VMA that holds addr. */
unsigned long smaps_kib(const void *addr, const char *field);
/* Is a two-letter flag ("sd", "lf", "uw") in the VmFlags of that VMA? */
bool smaps_flag(const void *addr, const char *flag);
/* A field of /proc/self/status ("VmSwap") or of /proc/meminfo, in KiB. */
unsigned long status_kib(const char *field);
unsigned long meminfo_kib(const char *field);
/* Whether so many bytes are at most a third of the memory. */
bool fits_memory(size_t len);

/*
 * Folds the counters of each CPU. False if one is negative; a kernel for one CPU
 * has nothing to fold.
 */
bool counters_fold(void);
/* A counter of /proc/vmstat, e.g. "thp_split_page". */
unsigned long vmstat(const char *name);
/* A per-size counter, e.g. mthp_stat(64, "split_deferred"). */
unsigned long mthp_stat(unsigned long kib, const char *name);
/* A field of /proc/self/ksm_stat, or a file of /sys/kernel/mm/ksm. */
unsigned long ksm_stat(const char *field);
unsigned long ksm_sysfs(const char *file);

/* The bounds of the mapping of this name in /proc/self/maps. */
void maps_named(const char *name, uintptr_t *from, uintptr_t *to);
/* Number of lines (VMAs) in /proc/self/maps. */
unsigned long vma_count(void);

#endif
