// SPDX-License-Identifier: GPL-2.0
/* Tries an operation on a state. */
#include "kernel/swap.h"
#include "matrix.h"
#include "tests/mremap/mremap.h"
#include "tests/swapout/swapout.h"

void trial_reads(struct trial *t)
{
	if (t->state->mixed)
		expect_mixed_content(t->at, t->pages);
	else
		expect_content(t->at, t->pages, SEED, 0);
	if (t->op->swaps)
		expect_back(t->before, t->at);
}

static char *range_mixed(size_t pages, unsigned long kib)
{
	char *at = range_filled(SRC_BASE, pages, kib);

	range_split_pmds(at, pages);
	mix_states(at, pages);
	return at;
}

static void begin(struct trial *t)
{
	size_t pages = range_pages(t->kib), mixed = mixed_pages(t->kib);

	if (t->state->mixed)
		trial_begin(t, range_mixed(mixed, t->kib), mixed);
	else if (t->state->shared_memory)
		trial_begin(t, range_shared(SRC_BASE, pages, t->kib), pages);
	else
		trial_begin(t, t->op->ground->range(t->kib, true), pages);
}

static void run(struct trial *t)
{
	const struct operation *op = t->op;

	begin(t);
	t->state->make(t);
	t->before = snapshot(t->at, t->pages);
	op->act(t);
	if (op->swaps && !t->part)
		expect_in_swap(t->before, t->at, t->kib);
	else if (!t->part)
		expect_changed(t->before, t->at, op->changes);
	if (op->undo)
		op->undo(t);
	t->state->check(t);
	trial_end(t);
}

static void run_apart(struct trial *t)
{
	if (t->op->apart)
		t->op->apart(run, t);
	else
		run(t);
}

static void each_kind(struct trial trial)
{
	const struct state *state = trial.state;

	if (trial.op->has_way && !trial.op->has_way(&trial))
		return;
	trial.kind = state->first_kind;
	do {
		trials_each(trial, state->differ, run_apart);
	} while (++trial.kind <= state->last_kind && !trial.op->needs_exclusive);
}

void matrix_run(const struct operation *op, const struct state *state,
		unsigned long kib)
{
	const struct ground *ground = op->ground;
	struct trial trial = { .op = op, .state = state, .kib = kib };

	/* Small folios differ from each other within a block. */
	trial.unit = op->by_blocks || kib == PAGE_KIB ? BLOCK_KIB : kib;
	if (ground->needs)
		ground->needs();
	if (state->needs)
		state->needs();
	if (ground->start)
		ground->start();
	else if (state->needs_swap)
		swap_on(SWAP_MIB);
	do {
		each_kind(trial);
	} while (++trial.way < op->ways);
	if (ground->end)
		ground->end();
}
