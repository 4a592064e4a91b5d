/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_SOAK_CHILD_H
#define QUIRE_SOAK_CHILD_H

#include "soak.h"

/* Fork one that lives for some operations. */
bool child_fork(struct actor *self, struct range *range);
/* Wait for children: those that have ended, or all. */
void children_reap(bool all);

#endif
