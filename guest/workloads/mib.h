/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One MiB of written folios at 1 GiB: the range on which mremap, munmap and
 * mprotect measure one call, many times.
 *
 * A folio of 2 MiB does not fit into it. One such folio is then mapped at 1 GiB
 * and its upper half is unmapped, so that 256 PTEs map the rest of the folio.
 * No measured call ever finds a PMD-mapped folio.
 */
#ifndef QUIRE_MIB_H
#define QUIRE_MIB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"

#define MIB_ADDR	((char *)GIB)
#define MIB_DEST	((char *)(GIB + MIB))	/* in the same page table */
#define MIB_SEED	0x3e1u

/*
 * Calls once(), reps + 1 times, each time on a freshly mapped, written and
 * checked MiB at MIB_ADDR, right after a timer tick. The first call is a
 * warm-up (counted = false): it fills slab caches and allocates page tables.
 * once() leaves neither MIB_ADDR nor MIB_DEST mapped.
 */
void mib_repeat(void (*once)(bool counted));

/* Fails the bench unless the MiB at addr still holds its data. */
void mib_verify(const char *addr);

/* The parameters of these workloads. */
#define MIB_PARAMS { PARAM_SIZE, { "reps", "32", NULL } }

#endif
