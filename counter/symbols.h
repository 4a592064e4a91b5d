/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest kernel's functions, the two cells of each that ran, and which spans
 * they begin and end.
 */
#ifndef QUIRE_SYMBOLS_H
#define QUIRE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cells.h"

/* A bit for each span. */
typedef uint32_t span_set_t;
#define MAX_SPANS	32

struct symbol {
	uint64_t start;
	uint64_t end;		/* first address that is no longer its own */
	const char *name;
	bool has_cells;		/* some of its code was translated for counting */
	cell_t insns;
	cell_t calls;
	span_set_t begins;	/* spans whose first instruction is this one's */
	span_set_t ends;	/* and those that end before it */
};

/*
 * Read lines "hexaddress name" in ascending order of address. Of several names
 * for one address the first is the symbol's; symbol_named() knows all. Nothing
 * in the file says where the last symbol ends: it is taken to end with its
 * 4 KiB page.
 * Returns false after a complaint that names file and line.
 */
bool symbols_load(const char *path);

/* The symbol that holds @addr, its cells in place, or NULL. */
struct symbol *symbol_at(uint64_t addr);

/*
 * The next symbol that has @name among its names, from place @i of the list of
 * all names on, or NULL. Moves @i behind it.
 */
struct symbol *symbol_named(const char *name, size_t *i);

/* What the symbols executed in all, by the values of all cells. */
uint64_t symbols_insns(const uint64_t *values);

/*
 * All symbols with cells, ordered by name, then address. The list is valid
 * until the next call of symbol_at().
 */
unsigned int symbols_counted(struct symbol ***list);

#endif
