// SPDX-License-Identifier: GPL-2.0
/*
 * Most accesses are to a line that the region has read or written before. A
 * direct-mapped cache of virtual lines recognises these; the others are looked
 * up by physical address, because the kernel may map a page more than once.
 */
#include <string.h>

#include "cells.h"
#include "lines.h"
#include "map.h"
#include "symbols.h"
#include "tables.h"

#define CACHE_LINES	16384
#define UPPER_HALF	(1ULL << 63)
#define READ		1
#define WRITTEN		2

static bool enabled, counting;
static const struct fixed_cells *totals;

/* Bits above READ and WRITTEN: the virtual line. */
static uint64_t cache[CACHE_LINES];
/* By physical line, READ and WRITTEN. */
static struct map lines;

void lines_enable(const struct fixed_cells *fixed)
{
	totals = fixed;
	enabled = true;
}

void lines_start(unsigned int id)
{
	memset(cache, 0, sizeof(cache));
	map_clear(&lines);
	tables_start(id);
	counting = true;
}

void lines_stop(void)
{
	tables_stop();
	counting = false;
}

static void count_new(struct symbol *sym, unsigned int how)
{
	int kind = how == READ ? KIND_LINES_READ : KIND_LINES_WRITTEN;

	cell_add(totals->events[kind], 1);
	if (sym)
		cell_add(symbol_event(sym, kind), 1);
}

/* Is that line of virtual addresses in the cache? If not, it is afterwards. */
static bool cached(uint64_t line, unsigned int how)
{
	uint64_t *entry = &cache[line % CACHE_LINES];
	uint64_t known = *entry;

	if (known >> 2 != line) {
		*entry = line << 2 | how;
		return false;
	}
	*entry = known | how;
	return known & how;
}

static void touch(qemu_plugin_meminfo_t info, uint64_t addr, struct symbol *sym,
		  unsigned int how)
{
	const struct qemu_plugin_hwaddr *where;
	uint64_t *known;

	/* A user's page may get another frame within the region. */
	if (addr >= UPPER_HALF && cached(addr / LINE_BYTES, how))
		return;
	where = qemu_plugin_get_hwaddr(info, addr);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	known = map_at(&lines,
		       qemu_plugin_hwaddr_phys_addr(where) / LINE_BYTES + 1);
	if (!(*known & how))
		count_new(sym, how);
	*known |= how;
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t addr, void *udata)
{
	unsigned int size = 1u << qemu_plugin_mem_size_shift(info);
	bool store = qemu_plugin_mem_is_store(info);
	unsigned int how = store ? WRITTEN : READ;

	(void)vcpu;
	if (!counting)
		return;
	touch(info, addr, udata, how);
	if (addr % LINE_BYTES + size > LINE_BYTES)
		touch(info, addr + size - 1, udata, how);
	if (store)
		tables_store(info, addr, size, udata);
}

void lines_watch(struct qemu_plugin_insn *insn, struct symbol *sym)
{
	if (enabled)
		qemu_plugin_register_vcpu_mem_cb(insn, on_access,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, sym);
}

void lines_count_write(struct qemu_plugin_insn *insn, struct symbol *sym)
{
	if (!enabled)
		return;
	cell_add_on_exec(insn, totals->events[KIND_LINES_WRITTEN], 1);
	if (sym)
		cell_add_on_exec(insn, symbol_event(sym, KIND_LINES_WRITTEN), 1);
}
