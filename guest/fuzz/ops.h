/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between the actor and its operations. */
#ifndef QUIRE_FUZZ_OPS_H
#define QUIRE_FUZZ_OPS_H

#include "base/units.h"
#include "fuzz.h"

typedef struct outcome_text operation(struct actor *self, const struct op *op);

/* ops_map.c: mappings */
operation verb_map, verb_unmap, verb_protect, verb_move, verb_resize, verb_advise;
operation verb_lock, verb_unlock, verb_split;
/* ops_access.c: pages */
operation verb_write, verb_same, verb_word, verb_read, verb_idle, verb_look, verb_clear_refs;
operation verb_migrate;
/* ops_uffd.c */
operation verb_watch, verb_wp, verb_unwp, verb_rwp, verb_unrwp, verb_unwatch;
struct uffdio_api;
/* A userfaultfd with these features, or -1; the kernel adds to the features. */
int uffd_with(struct uffdio_api *api);
/* Opens the actor's, if it has none. */
void uffd_need(struct actor *self);
/* ops_take.c, ops_scan.c */
operation verb_take, verb_scan;

/* actor.c: a new actor, as a child of this one. */
operation verb_fork;
/* holds.c */
operation verb_hold, verb_drop;
/* Drops this actor's references to pages. */
void drop_holds(struct actor *self);

/* pinned.c: one page is pinned at a time. */
operation verb_pin;
void drop_pin(void);
void forget_pin(void);

/* hints.c */
operation verb_hint;

/* offline.c */
operation verb_offline;

/* crowd.c */
operation verb_crowd;
void end_crowd(void);
void forget_crowd(void);

/* The pages that the operation names. */
static inline char *op_range(const struct op *op)
{
	return page_addr(op->slot, op->page);
}

static inline size_t op_length(const struct op *op)
{
	return op->count * PAGE_SIZE;
}

#endif
