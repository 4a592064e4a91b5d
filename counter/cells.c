// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in chunks that never move: translated code contains their addresses.
 */
#include "cells.h"
#include "util.h"

#define CHUNK_CELLS	512
#define MAX_CHUNKS	1024

static unsigned int n_cells;

#if QUIRE_PLUGIN_API == 1

static uint64_t *chunks[MAX_CHUNKS];

static void chunk_new(unsigned int i)
{
	chunks[i] = xcalloc(CHUNK_CELLS, sizeof(uint64_t));
}

void cell_add_on_exec(struct qemu_plugin_insn *insn, cell_t cell, uint64_t n)
{
	qemu_plugin_register_vcpu_insn_exec_inline(
		insn, QEMU_PLUGIN_INLINE_ADD_U64,
		&chunks[cell / CHUNK_CELLS][cell % CHUNK_CELLS], n);
}

void cell_add_on_mem(struct qemu_plugin_insn *insn, enum qemu_plugin_mem_rw rw,
		     cell_t cell, uint64_t n)
{
	qemu_plugin_register_vcpu_mem_inline(
		insn, rw, QEMU_PLUGIN_INLINE_ADD_U64,
		&chunks[cell / CHUNK_CELLS][cell % CHUNK_CELLS], n);
}

void cells_read(uint64_t *to, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		to[i] = chunks[i / CHUNK_CELLS][i % CHUNK_CELLS];
}

#else

static struct qemu_plugin_scoreboard *chunks[MAX_CHUNKS];

static void chunk_new(unsigned int i)
{
	chunks[i] = qemu_plugin_scoreboard_new(CHUNK_CELLS * sizeof(uint64_t));
}

static qemu_plugin_u64 cell_entry(cell_t cell)
{
	return (qemu_plugin_u64) {
		.score = chunks[cell / CHUNK_CELLS],
		.offset = cell % CHUNK_CELLS * sizeof(uint64_t),
	};
}

void cell_add_on_exec(struct qemu_plugin_insn *insn, cell_t cell, uint64_t n)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
		insn, QEMU_PLUGIN_INLINE_ADD_U64, cell_entry(cell), n);
}

void cell_add_on_mem(struct qemu_plugin_insn *insn, enum qemu_plugin_mem_rw rw,
		     cell_t cell, uint64_t n)
{
	qemu_plugin_register_vcpu_mem_inline_per_vcpu(
		insn, rw, QEMU_PLUGIN_INLINE_ADD_U64, cell_entry(cell), n);
}

void cells_read(uint64_t *to, unsigned int n)
{
	int vcpus = qemu_plugin_num_vcpus();

	for (unsigned int i = 0; i < n; i++)
		to[i] = 0;
	for (unsigned int c = 0; c * CHUNK_CELLS < n; c++) {
		unsigned int first = c * CHUNK_CELLS;
		unsigned int len = n - first < CHUNK_CELLS ? n - first
							   : CHUNK_CELLS;

		for (int cpu = 0; cpu < vcpus; cpu++) {
			const uint64_t *v =
				qemu_plugin_scoreboard_find(chunks[c], cpu);

			for (unsigned int i = 0; i < len; i++)
				to[first + i] += v[i];
		}
	}
}

#endif

cell_t cell_new(void)
{
	unsigned int chunk = n_cells / CHUNK_CELLS;

	if (chunk == MAX_CHUNKS)
		die("more than %u counters: the symbol file names too many symbols",
		    n_cells);
	if (n_cells % CHUNK_CELLS == 0)
		chunk_new(chunk);
	return n_cells++;
}

unsigned int cells_count(void)
{
	return n_cells;
}
