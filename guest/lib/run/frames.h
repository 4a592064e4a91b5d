/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_RUN_FRAMES_H
#define QUIRE_RUN_FRAMES_H

#include <stdbool.h>

/* Does the plugin want to know (kernel parameter quire_lines=on)? */
bool frames_wanted(void);

/*
 * If so, tells it which frames are page tables now. bench_arm() and
 * bench_disarm() do. A workload whose tables do not exist then calls it where
 * they do: before the region or after it. This reads the flags of all frames,
 * which takes a tenth of a second, or half a second where the plugin counts.
 *
 * Missed are tables that are allocated and freed between two calls, and those
 * that the kernel does not mark: the early ones and, before 6.14, the top level.
 */
void frames_name_tables(void);

#endif
