/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_SOAK_CHILD_H
#define QUIRE_SOAK_CHILD_H

#include "soak.h"

/* Forks a child that runs for some operations. */
bool child_fork(struct actor *self, struct range *range);
/* Waits for children: for those that have exited, or for all. */
void children_reap(bool all);

#endif
