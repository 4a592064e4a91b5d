/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of the machine that workloads change: folio sizes, KSM,
 * khugepaged, MGLRU. They are put back at the end.
 */
#ifndef QUIRE_TIME_SETTINGS_H
#define QUIRE_TIME_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * May workloads run here? They stop swapping on zram and unmerge KSM's pages,
 * which must not be in use. False with the reason, and what to do.
 */
bool settings_allow(char *why, size_t size);

void settings_save(void);
void settings_restore(void);

#endif
