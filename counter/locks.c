// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include "locks.h"
#include "names.h"
#include "util.h"

static const char INLINED[] = "inlined_spin_lock";

struct lock_call {
	const char *lock;	/* the function's name */
	cell_t cell;
	struct lock_call *next;
};

static bool any;
static struct lock_call *unnamed;	/* by code outside of any symbol */

static void take(const char *name, struct symbol *sym)
{
	if (!sym->lock)
		sym->lock = name;
	any = true;
}

bool locks_load(const char *path)
{
	return names_load("locks", path, take);
}

/*
 * Counts @insn as a call of @lock by @caller. A caller's list has an entry for
 * each name of lock functions that it calls; functions of one name share the
 * text.
 */
static void count(struct qemu_plugin_insn *insn, struct symbol *caller,
		  const char *lock)
{
	struct lock_call **list = caller ? &caller->lock_calls : &unnamed;
	struct lock_call *call;

	while (*list && (*list)->lock != lock)
		list = &(*list)->next;
	if (!*list) {
		call = xcalloc(1, sizeof(*call));
		call->lock = lock;
		call->cell = cell_new();
		*list = call;
	}
	cell_add_on_exec(insn, (*list)->cell, 1);
}

void locks_count(struct qemu_plugin_insn *insn, struct symbol *caller,
		 uint64_t target)
{
	struct symbol *function = any ? symbol_starting(target) : NULL;

	/* A jump to the beginning of its own function is a loop. */
	if (function && function->lock && function != caller)
		count(insn, caller, function->lock);
}

void locks_count_inlined(struct qemu_plugin_insn *insn, struct symbol *caller)
{
	if (any && !(caller && caller->lock))
		count(insn, caller, INLINED);
}

static void write_calls(FILE *out, unsigned int id, const char *caller,
			const struct lock_call *call, const struct tally *tally)
{
	for (; call; call = call->next) {
		uint64_t n = tally_of(tally, call->cell);

		if (n)
			fprintf(out, "lock %u %s %s %" PRIu64 "\n", id, caller,
				call->lock, n);
	}
}

void locks_write(FILE *out, unsigned int id, const struct tally *tally)
{
	struct symbol **list;
	unsigned int n = symbols_counted(&list);

	for (unsigned int i = 0; i < n; i++)
		write_calls(out, id, list[i]->name, list[i]->lock_calls, tally);
	write_calls(out, id, "-", unnamed, tally);
}
