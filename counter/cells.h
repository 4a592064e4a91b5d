/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells: 64-bit counters that translated guest code adds to without calling
 * the plugin. A cell is created zero and is never freed.
 *
 * Callers serialise cell_new() and cells_read(); the adds themselves run in
 * the vCPUs' threads (see README.md for more than one vCPU).
 */
#ifndef QUIRE_CELLS_H
#define QUIRE_CELLS_H

#include <stdbool.h>

#include "qemu_plugin_api.h"

typedef unsigned int cell_t;

/* A new cell. */
cell_t cell_new(void);

/* A new cell that cells_sum() includes. */
cell_t cell_new_summed(void);

/* All cells' numbers are below it. It never shrinks. */
unsigned int cells_count(void);

/* Adds @n to @cell whenever @insn begins to execute. */
void cell_add_on_exec(struct qemu_plugin_insn *insn, cell_t cell, uint64_t n);

/* Adds @n to @cell after each completed memory access of kind @rw by @insn. */
void cell_add_on_mem(struct qemu_plugin_insn *insn, enum qemu_plugin_mem_rw rw,
		     cell_t cell, uint64_t n);

/* Adds @n to @cell now. There must be one vCPU only. */
void cell_add(cell_t cell, uint64_t n);

/* Copies the values of the cells below @n, summed over the vCPUs, to @to. */
void cells_read(uint64_t *to, unsigned int n);

uint64_t cell_value(cell_t cell);

/*
 * The sum of all cells from cell_new_summed(). They lie together, so that this
 * is much faster than reading all cells.
 */
uint64_t cells_sum(void);

#endif
