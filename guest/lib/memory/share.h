/* SPDX-License-Identifier: GPL-2.0 */
/* Folios of which a child gets only some pages. */
#ifndef QUIRE_SHARE_H
#define QUIRE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/mask.h"
#include "process/peer.h"

/*
 * peer_fork(), where pages in the mask stay with the parent alone, exclusive and
 * writable. In the parent, the range is one mapping again afterwards.
 */
bool fork_without(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *mask);

/* The pages that the child has, too: all but those in the mask. */
void write_shared(char *addr, size_t pages, unsigned long kib,
		  const struct mask *alone, uint64_t seed);
void expect_shared(char *addr, size_t pages, unsigned long kib,
		   const struct mask *alone, uint64_t seed);

/*
 * What such a child does, in turns: it looks, once, whether it still has SEED;
 * then it looks again and writes SEED_CHILD, and looks whether that stays.
 */
void sharer_looks(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *alone);
void sharer_writes(struct peer *peer, char *addr, size_t pages,
		   unsigned long kib, const struct mask *alone)
	__attribute__((noreturn));

/*
 * Fork a child that ends at once: afterwards all entries are read-only, so that
 * only what else they hold tells pages apart. The pages are still shared with
 * nobody.
 */
void fork_and_forget(void);

#endif
