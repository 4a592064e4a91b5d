/* SPDX-License-Identifier: GPL-2.0 */
/* The multi-generational LRU, beside the classic active and inactive lists. */
#ifndef QUIRE_LRU_GEN_H
#define QUIRE_LRU_GEN_H

#include <stdbool.h>

/* Moves all folios from the classic lists to generations, or back. */
void lru_gen_enable(bool on);
/*
 * Starts a new generation on node 0 of this process's cgroup: pages that are
 * accessed from now on are younger than those that are not. Reclaim does so by
 * itself, but only when it needs the oldest generation. Needs memcg_enter() and
 * swap.
 */
void lru_gen_age(void);

#endif
