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
 * peer_fork() in which only the parent keeps the pages in the mask, exclusive
 * and writable. In the parent, the range is one VMA again afterwards.
 */
bool fork_without(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *mask);

/* The pages that the child shares: all but those in the mask. */
void write_shared(char *addr, size_t pages, unsigned long kib,
		  const struct mask *alone, uint64_t seed);
void expect_shared(char *addr, size_t pages, unsigned long kib,
		   const struct mask *alone, uint64_t seed);

/*
 * The child's turns. sharer_looks() checks that the pages still hold SEED.
 * sharer_writes() checks that, writes SEED_CHILD and, one turn later, checks
 * that the pages keep it.
 */
void sharer_looks(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *alone);
void sharer_writes(struct peer *peer, char *addr, size_t pages,
		   unsigned long kib, const struct mask *alone)
	__attribute__((noreturn));

/*
 * Forks a child that ends at once. All PTEs are read-only afterwards, and the
 * pages are shared with no other process. Only other state tells the pages
 * apart.
 */
void fork_and_forget(void);

#endif
