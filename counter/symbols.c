// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "util.h"

#define PAGE_BYTES	4096

static struct symbol *symbols;
static size_t n_symbols;
static struct name {
	const char *text;
	size_t symbol;		/* index into symbols, which may move */
} *names;
static size_t n_names;
static struct symbol **counted;
static unsigned int n_counted;

/* Splits "hexaddress name\n" in place. */
static bool parse_line(char *line, uint64_t *addr, char **name)
{
	char *end;

	if (!isxdigit((unsigned char)line[0]))
		return false;
	*addr = strtoull(line, &end, 16);
	if (*end != ' ')
		return false;
	*name = end + 1;
	end = *name + strcspn(*name, " \t\r\n");
	if (end == *name || *end != '\n' || end[1])
		return false;
	*end = '\0';
	return true;
}

/*
 * A list of @n entries with room for one more. Doubles its room when it is
 * full.
 */
static void *make_room(void *list, size_t n, size_t size)
{
	if (n & (n - 1))
		return list;
	return xrealloc(list, (n ? 2 * n : 1) * size);
}

static void append_symbol(uint64_t addr, const char *name)
{
	if (n_symbols)
		symbols[n_symbols - 1].end = addr;
	symbols = make_room(symbols, n_symbols, sizeof(*symbols));
	symbols[n_symbols++] = (struct symbol) {
		.start = addr,
		.end = (addr | (PAGE_BYTES - 1)) + 1,
		.name = name,
	};
}

static void append(uint64_t addr, const char *name)
{
	name = strdup(name);
	if (!name)
		die("no memory for the symbols");
	if (!n_symbols || symbols[n_symbols - 1].start != addr)
		append_symbol(addr, name);
	names = make_room(names, n_names, sizeof(*names));
	names[n_names++] = (struct name) { name, n_symbols - 1 };
}

static bool read_lines(FILE *file, const char *path)
{
	char *line = NULL, *name;
	unsigned int number = 0;
	uint64_t addr, last = 0;
	size_t room = 0;
	bool ok = true;

	while (ok && getline(&line, &room, file) >= 0) {
		number++;
		ok = parse_line(line, &addr, &name);
		if (!ok) {
			complain("%s:%u: expected a line \"hexaddress name\"",
				 path, number);
		} else if (addr < last) {
			complain("%s:%u: address %" PRIx64 " is below the one before it; sort the file by address",
				 path, number, addr);
			ok = false;
		} else {
			append(addr, name);
			last = addr;
		}
	}
	free(line);
	if (ok && ferror(file)) {
		complain("cannot read symbols from %s: %s", path,
			 strerror(errno));
		ok = false;
	} else if (ok && !n_symbols) {
		complain("%s: no symbols in it", path);
		ok = false;
	}
	return ok;
}

bool symbols_load(const char *path)
{
	FILE *file = fopen(path, "r");
	bool ok;

	if (!file) {
		complain("cannot open symbols=%s: %s", path, strerror(errno));
		return false;
	}
	ok = read_lines(file, path);
	fclose(file);
	counted = xcalloc(n_symbols + 1, sizeof(*counted));
	return ok;
}

static int compare_address(const void *key, const void *entry)
{
	const uint64_t addr = *(const uint64_t *)key;
	const struct symbol *sym = entry;

	if (addr < sym->start)
		return -1;
	return addr >= sym->end;
}

void symbol_need_cells(struct symbol *sym)
{
	if (sym->has_cells)
		return;
	sym->insns = cell_new_summed();
	sym->calls = cell_new();
	sym->has_cells = true;
	counted[n_counted++] = sym;
}

static struct symbol *find(uint64_t addr)
{
	return n_symbols ? bsearch(&addr, symbols, n_symbols, sizeof(*symbols),
				   compare_address)
			 : NULL;
}

struct symbol *symbol_starting(uint64_t addr)
{
	struct symbol *sym = find(addr);

	return sym && sym->start == addr ? sym : NULL;
}

struct symbol *symbol_at(uint64_t addr)
{
	struct symbol *sym = find(addr);

	if (sym)
		symbol_need_cells(sym);
	return sym;
}

unsigned int symbol_number(const struct symbol *sym)
{
	return sym ? sym - symbols + 2 : 1;
}

struct symbol *symbol_numbered(unsigned int number)
{
	return number == 1 ? NULL : &symbols[number - 2];
}

cell_t symbol_event(struct symbol *sym, int kind)
{
	if (!sym->events[kind].used) {
		sym->events[kind].cell = cell_new();
		sym->events[kind].used = true;
	}
	return sym->events[kind].cell;
}

struct symbol *symbol_named(const char *name, size_t *i)
{
	while (*i < n_names) {
		const struct name *candidate = &names[(*i)++];

		if (!strcmp(candidate->text, name))
			return &symbols[candidate->symbol];
	}
	return NULL;
}

static int compare_name(const void *left, const void *right)
{
	const struct symbol *a = *(struct symbol *const *)left;
	const struct symbol *b = *(struct symbol *const *)right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->start < b->start ? -1 : a->start > b->start;
}

void symbols_sort(void)
{
	if (n_counted)
		qsort(counted, n_counted, sizeof(*counted), compare_name);
}

unsigned int symbols_counted(struct symbol ***list)
{
	*list = counted;
	return n_counted;
}
