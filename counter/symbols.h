/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest kernel's functions, the two cells of each function that ran, and
 * the spans that it begins and ends.
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
	uint64_t end;		/* the first address after it */
	const char *name;
	bool has_cells;		/* some of its code was translated for counting */
	cell_t insns;
	cell_t calls;
	span_set_t begins;	/* spans that begin at its first instruction */
	span_set_t ends;	/* spans that end before it */
};

/*
 * Reads lines "hexaddress name" in ascending order of address. Of several names
 * for one address the symbol has the first; symbol_named() knows all. The file
 * does not say where the last symbol ends, so it ends with its 4 KiB page.
 * Returns false after a complaint that names file and line.
 */
bool symbols_load(const char *path);

/* The symbol that contains @addr, with its cells created, or NULL. */
struct symbol *symbol_at(uint64_t addr);

/*
 * The next symbol that has @name among its names, from index @i of the list of
 * all names on, or NULL. Sets @i to the index after it.
 */
struct symbol *symbol_named(const char *name, size_t *i);

/* The total of all symbols, from the values of all cells. */
uint64_t symbols_insns(const uint64_t *values);

/*
 * All symbols with cells, ordered by name, then address. The list is valid
 * until the next call of symbol_at().
 */
unsigned int symbols_counted(struct symbol ***list);

#endif
