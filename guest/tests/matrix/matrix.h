/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations × states. A state is something that some pages of each folio have
 * and their neighbours do not: a bit of the entry, or who else maps the page. An
 * operation is tried on ranges in that state: each page keeps what it has, and
 * gets nothing from its neighbours.
 *
 * A row of table.c tries one operation on all states. A new operation is a struct
 * operation among the cases of its suite, a line of operations.h and a row; a new
 * state is a struct state in states.c, a line below and a column.
 */
#ifndef QUIRE_TESTS_MATRIX_H
#define QUIRE_TESTS_MATRIX_H

#include "tests/matrix/trial.h"

struct operation {
	const struct ground *ground;
	/* Without checks of the pages, if the trial has a part. */
	void (*act)(struct trial *t);
	/* Ends what the operation has begun, before the state is checked; or NULL. */
	void (*undo)(struct trial *t);
	unsigned int changes;		/* expect_changed() */
	bool swaps;			/* all pages are in swap afterwards */
	bool spreads_young;		/* an accessed bit may become that of a batch */
	bool by_blocks;			/* masks are of blocks, not of folios */
	bool needs_exclusive;		/* of each state, only the first kind */
	unsigned int ways;		/* 0: one */
	bool (*has_way)(const struct trial *t);
	uint64_t uffd_features;
	/* Calls run() in a process of its own; or NULL. */
	void (*apart)(void (*run)(struct trial *t), struct trial *t);
};

struct state {
	void (*needs)(void);
	/* range_shared(), or mix_states(), instead of the operation's range. */
	bool shared_memory, mixed;
	bool needs_swap;
	void (*make)(struct trial *t);
	void (*check)(struct trial *t);
	unsigned int differ;
	unsigned int first_kind, last_kind;
};

/*
 * Their pages: protected by userfaultfd, soft-dirty, accessed, dirty since
 * MADV_FREE, not shared with a child; in another mapping or gone; all, but the
 * folio is in two page tables; all have memory tags. _mixed: of ranges with
 * small, absent and swapped pages, too (mix_states()).
 */
extern const struct state wp, wp_read_only, wp_shmem, soft_dirty, young, dirty,
	exclusive, exclusive_writable, exclusive_read_only, exclusive_child_first,
	exclusive_swapped, exclusive_written,
	part, across, tags, mixed, wp_mixed, soft_dirty_mixed;

/* Tries an operation on a state, with each way, kind and mask. */
void matrix_run(const struct operation *op, const struct state *state,
		unsigned long kib);

/* For states: reads all pages, which are as they were; with swap, they come back. */
void trial_reads(struct trial *t);

#endif
