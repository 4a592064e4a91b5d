/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulation of data caches: two levels of each CPU and a last one that all
 * share, set-associative, least recently used out first. It follows all
 * accesses of kernel and user from arming on, and counts where those that miss
 * the first level find their line. Needs one thread for all vCPUs (-icount).
 */
#ifndef QUIRE_CACHES_H
#define QUIRE_CACHES_H

#include "qemu_plugin_api.h"
#include "symbols.h"
#include "tally.h"

/*
 * Reads three lines "NAME BYTES WAYS": l1d, l2, llc, in this order. With @cold,
 * each region begins with empty caches. Returns false after a complaint.
 */
bool caches_load(const char *path, unsigned int cpus, bool cold,
		 const struct fixed_cells *fixed);

/* Instruments @insn. @sym is NULL for user code and unknown kernel code. */
void caches_watch(struct qemu_plugin_insn *insn, struct symbol *sym);

/* A region starts. */
void caches_start(void);

#endif
