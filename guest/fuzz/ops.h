/* SPDX-License-Identifier: GPL-2.0 */
/* Between the actor and its operations. */
#ifndef QUIRE_FUZZ_OPS_H
#define QUIRE_FUZZ_OPS_H

#include "fuzz.h"

/* actor.c: a new actor, as a child of this one. */
struct outcome_text do_fork(struct actor *self, const struct op *op);
/* Let go of the pages that this actor holds. */
void drop_holds(struct actor *self);

/* pinned.c: one page at a time is pinned. */
struct outcome_text do_pin(struct actor *self, const struct op *op);
void drop_pin(void);
void forget_pin(void);

/* crowd.c */
struct outcome_text do_crowd(struct actor *self, const struct op *op);
void end_crowd(void);
void forget_crowd(void);

#endif
