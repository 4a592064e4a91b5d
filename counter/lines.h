/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The distinct cache lines that the kernel reads and writes within a region,
 * and its stores into page tables (tables.h), by callbacks on its memory
 * accesses. Needs one vCPU; one region can be open at a time.
 */
#ifndef QUIRE_LINES_H
#define QUIRE_LINES_H

#include "qemu_plugin_api.h"
#include "symbols.h"
#include "tally.h"

#define LINE_BYTES	64

/* Counts in these cells' totals from now on. */
void lines_enable(const struct fixed_cells *fixed);

/* Instruments @insn, an instruction of the kernel in @sym, which may be NULL. */
void lines_watch(struct qemu_plugin_insn *insn, struct symbol *sym);

/* Counts a line that @insn writes at an address that no callback tells. */
void lines_count_write(struct qemu_plugin_insn *insn, struct symbol *sym);

/* Region @id starts: no line was read or written before. */
void lines_start(unsigned int id);
void lines_stop(void);

#endif
