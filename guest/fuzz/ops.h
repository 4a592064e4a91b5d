/* SPDX-License-Identifier: GPL-2.0 */
/* Between the actor and its operations. */
#ifndef QUIRE_FUZZ_OPS_H
#define QUIRE_FUZZ_OPS_H

#include "fuzz.h"

/* actor.c: a new actor, as a child of this one. */
struct outcome_text do_fork(struct actor *self, const struct op *op);
/* Let go of the pages that this actor holds. */
void drop_holds(struct actor *self);

#endif
