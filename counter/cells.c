// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in chunks that never move: translated code contains their addresses.
 */
#include <string.h>

#include "cells.h"
#include "util.h"

#define CHUNK_CELLS	512
#define MAX_CHUNKS	1024

/* The cells of a chunk are all summed or all not. */
static bool summed[MAX_CHUNKS];
static unsigned int n_chunks;
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

void cell_add(cell_t cell, uint64_t n)
{
	chunks[cell / CHUNK_CELLS][cell % CHUNK_CELLS] += n;
}

static uint64_t chunk_value(unsigned int c, unsigned int i)
{
	return chunks[c][i];
}

static void chunk_add(unsigned int c, uint64_t *to, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		to[i] += chunks[c][i];
}

static uint64_t chunk_sum(unsigned int c)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CHUNK_CELLS; i++)
		sum += chunks[c][i];
	return sum;
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

void cell_add(cell_t cell, uint64_t n)
{
	uint64_t *v = qemu_plugin_scoreboard_find(chunks[cell / CHUNK_CELLS], 0);

	v[cell % CHUNK_CELLS] += n;
}

static uint64_t chunk_value(unsigned int c, unsigned int i)
{
	int vcpus = qemu_plugin_num_vcpus();
	uint64_t sum = 0;

	for (int cpu = 0; cpu < vcpus; cpu++) {
		const uint64_t *v = qemu_plugin_scoreboard_find(chunks[c], cpu);

		sum += v[i];
	}
	return sum;
}

static void chunk_add(unsigned int c, uint64_t *to, unsigned int n)
{
	int vcpus = qemu_plugin_num_vcpus();

	for (int cpu = 0; cpu < vcpus; cpu++) {
		const uint64_t *v = qemu_plugin_scoreboard_find(chunks[c], cpu);

		for (unsigned int i = 0; i < n; i++)
			to[i] += v[i];
	}
}

static uint64_t chunk_sum(unsigned int c)
{
	int vcpus = qemu_plugin_num_vcpus();
	uint64_t sum = 0;

	for (int cpu = 0; cpu < vcpus; cpu++) {
		const uint64_t *v = qemu_plugin_scoreboard_find(chunks[c], cpu);

		for (unsigned int i = 0; i < CHUNK_CELLS; i++)
			sum += v[i];
	}
	return sum;
}

#endif

/* A chunk to fill, and how many of its cells are in use. */
struct filling {
	unsigned int chunk;
	unsigned int used;
};

static cell_t fill(struct filling *filling, bool sum)
{
	cell_t cell;

	if (filling->used == CHUNK_CELLS) {
		if (n_chunks == MAX_CHUNKS)
			die("more than %u counters: the symbol file names too many symbols",
			    n_cells);
		filling->chunk = n_chunks++;
		filling->used = 0;
		summed[filling->chunk] = sum;
		chunk_new(filling->chunk);
	}
	cell = filling->chunk * CHUNK_CELLS + filling->used++;
	if (cell >= n_cells)
		n_cells = cell + 1;
	return cell;
}

cell_t cell_new(void)
{
	static struct filling plain = { .used = CHUNK_CELLS };

	return fill(&plain, false);
}

cell_t cell_new_summed(void)
{
	static struct filling sums = { .used = CHUNK_CELLS };

	return fill(&sums, true);
}

unsigned int cells_count(void)
{
	return n_cells;
}

void cells_read(uint64_t *to, unsigned int n)
{
	memset(to, 0, n * sizeof(*to));
	for (unsigned int c = 0; c * CHUNK_CELLS < n; c++) {
		unsigned int first = c * CHUNK_CELLS;
		unsigned int left = n - first;

		chunk_add(c, to + first,
			  left < CHUNK_CELLS ? left : CHUNK_CELLS);
	}
}

uint64_t cell_value(cell_t cell)
{
	return chunk_value(cell / CHUNK_CELLS, cell % CHUNK_CELLS);
}

uint64_t cells_sum(void)
{
	uint64_t sum = 0;

	for (unsigned int c = 0; c < n_chunks; c++)
		if (summed[c])
			sum += chunk_sum(c);
	return sum;
}
