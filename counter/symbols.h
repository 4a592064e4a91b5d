/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest kernel's functions, the cells of each function that ran, and the
 * spans that it begins and ends.
 */
#ifndef QUIRE_SYMBOLS_H
#define QUIRE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cells.h"
#include "decode.h"

/* A bit for each span. */
typedef uint32_t span_set_t;
#define MAX_SPANS	32

struct lock_call;

struct symbol {
	uint64_t start;
	uint64_t end;		/* the first address after it */
	const char *name;
	bool has_cells;		/* some of its code was translated for counting */
	cell_t insns;
	cell_t calls;
	struct {
		bool used;	/* an instruction of this kind was translated */
		cell_t cell;
	} events[ALL_KINDS];
	span_set_t begins;	/* spans that begin at its first instruction */
	span_set_t ends;	/* spans that end before it */
	const char *lock;	/* its name in locks=FILE, or NULL */
	struct lock_call *lock_calls;	/* that its code makes */
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

/* The symbol that begins at @addr, or NULL. */
struct symbol *symbol_starting(uint64_t addr);

/* Creates its cells for instructions and calls, unless it has them. */
void symbol_need_cells(struct symbol *sym);

/* A number for it, above zero; NULL has one, too. */
unsigned int symbol_number(const struct symbol *sym);
struct symbol *symbol_numbered(unsigned int number);

/* The cell of @sym for events of that kind. */
cell_t symbol_event(struct symbol *sym, int kind);

/*
 * The next symbol that has @name among its names, from index @i of the list of
 * all names on, or NULL. Sets @i to the index after it.
 */
struct symbol *symbol_named(const char *name, size_t *i);

/* Orders the list of symbols_counted() by name, then address. */
void symbols_sort(void);

/* All symbols with cells. The list is valid until one more gets its cells. */
unsigned int symbols_counted(struct symbol ***list);

#endif
