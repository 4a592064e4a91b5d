/* SPDX-License-Identifier: GPL-2.0 */
/* The guest kernel's functions, and the two cells of each that ran. */
#ifndef QUIRE_SYMBOLS_H
#define QUIRE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cells.h"

struct symbol {
	uint64_t start;
	uint64_t end;		/* first address that is no longer its own */
	const char *name;
	bool has_cells;		/* some of its code was translated for counting */
	cell_t insns;
	cell_t calls;
};

/*
 * Read lines "hexaddress name" in ascending order of address. Of several names
 * for one address the first is kept. Nothing in the file says where the last
 * symbol ends: it is taken to end with its 4 KiB page.
 * Returns false after a complaint that names file and line.
 */
bool symbols_load(const char *path);

/* The symbol that holds @addr, its cells in place, or NULL. */
struct symbol *symbol_at(uint64_t addr);

/*
 * All symbols with cells, ordered by name, then address. The list is valid
 * until the next call of symbol_at().
 */
unsigned int symbols_counted(struct symbol ***list);

#endif
