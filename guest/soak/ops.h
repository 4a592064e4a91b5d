/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of actors. */
#ifndef QUIRE_SOAK_OPS_H
#define QUIRE_SOAK_OPS_H

#include "range.h"
#include "soak.h"

typedef bool operation(struct actor *self, struct range *range);

/* ops_page.c */
operation do_read, do_read_many, do_write, do_write_common, do_write_zero;
operation do_look_elsewhere, do_hold;
/* ops_run.c */
operation do_fill, do_drop, do_lazyfree, do_page_out, do_reclaim, do_map_again;
operation do_renew;
/* ops_state.c */
operation do_protect, do_lock, do_mergeable;
/* Nothing in the range is locked any more. */
void range_unlock_pages(struct range *range);
/* ops_watch.c */
operation do_watch;
/* ops_move.c */
operation do_move, do_move_keep;

/* A run in a state that most operations cannot be applied to. */
#define SPECIAL	(SEALED | LOCKED | ABSENT)

static inline size_t run_bytes(const struct run *run)
{
	return run->count * PAGE_SIZE;
}

/* Needs the range's mutex and the locks of the pages. */
void run_refill(struct range *range, const struct run *run);
bool run_free(struct actor *self, struct range *range, const struct run *run);
/* These need neither. */
void run_page_out(struct range *range, size_t first, size_t count);
void run_write_some(struct actor *self, struct range *range, size_t first,
		    size_t count);
/* Does another operation on these pages, or none. */
void run_follow_up(struct actor *self, struct range *range, size_t first,
		   size_t count);

/*
 * Makes a run read-only, if all of it is in the usual state, and writable
 * again. In between it may be moved. Both take the mutex.
 */
bool run_seal(struct range *range, size_t first, size_t count);
void run_unseal(struct range *range, size_t first, size_t count);

/* Moves as much of a run as one mremap() can; returns the number of pages. */
size_t move_run(struct range *range, const struct run *run, int flags);
/* The same from page `first` on, at most `count` pages; takes the mutex. */
void move_part(struct range *range, size_t first, size_t count);

#endif
