// SPDX-License-Identifier: GPL-2.0
/* Pages: written, read, observed. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/env.h"
#include "kernel/nodes.h"
#include "memory/probe.h"
#include "ops.h"
#include "proc/idle.h"
#include "proc/pagemap.h"

/* How many accesses succeeded, and how many raised which signal. */
struct tally {
	unsigned int ok, segv, bus;
};

static void count(struct tally *tally, int sig)
{
	tally->ok += !sig;
	tally->segv += sig == SIGSEGV;
	tally->bus += sig == SIGBUS;
}

static struct outcome_text outcome_tally(const struct tally *tally)
{
	return outcome_fmt("ok=%u segv=%u bus=%u", tally->ok, tally->segv,
			   tally->bus);
}

struct outcome_text verb_write(struct actor *self __attribute__((unused)),
			       const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;

	content_touch(op_range(op), op->count, true);
	for (i = 0; i < op->count; i++)
		count(&tally, content_write(op->slot, op->page + i,
					    op->index));
	return outcome_tally(&tally);
}

struct outcome_text verb_same(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;

	content_touch(op_range(op), op->count, true);
	for (i = 0; i < op->count; i++)
		count(&tally, content_write_same(op_range(op) + i * PAGE_SIZE,
						 op->number));
	return outcome_tally(&tally);
}

struct outcome_text verb_word(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;

	for (i = 0; i < op->count; i++)
		count(&tally, content_write_word(op->slot, op->page + i,
						 op->index, op->number));
	return outcome_tally(&tally);
}

struct outcome_text verb_read(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;
	uint64_t word;

	content_touch(op_range(op), op->count, false);
	for (i = 0; i < op->count; i++)
		count(&tally, probe_read(op_range(op) + i * PAGE_SIZE, &word));
	return outcome_tally(&tally);
}

struct outcome_text verb_clear_refs(struct actor *self __attribute__((unused)),
				    const struct op *op)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", op->number);
	return outcome_of(try_write_file("/proc/self/clear_refs", text));
}

/* Marks the pages idle, or counts those that still are: both walk the rmap. */
static struct outcome_text for_each_idle(const struct op *op, bool set)
{
	struct page_state state[SLOT_PAGES];
	unsigned int i, idle = 0;

	env_drain_lru();
	pagemap_read(op_range(op), op->count, state);
	for (i = 0; i < op->count; i++) {
		struct idle_bit bit;

		if (!state[i].present)
			continue;
		bit = idle_open(state[i].pfn);
		if (set)
			idle_set(&bit);
		else
			idle += idle_get(&bit);
		close(bit.fd);
	}
	return set ? outcome_ok() : outcome_fmt("idle=%u", idle);
}

struct outcome_text verb_idle(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	return for_each_idle(op, true);
}

struct outcome_text verb_look(struct actor *self __attribute__((unused)),
			      const struct op *op)
{
	return for_each_idle(op, false);
}

/*
 * Moves the folios of the pages to node 0 or 1. How many have moved is not
 * compared: a folio that is partially mapped may be split first.
 */
struct outcome_text verb_migrate(struct actor *self __attribute__((unused)),
				 const struct op *op)
{
	env_drain_lru();
	return outcome_of(!node_move(0, op_range(op), op->count,
				     op->number % 2));
}
