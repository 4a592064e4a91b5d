/* SPDX-License-Identifier: GPL-2.0 */
/* Folios of which a child gets only some pages. */
#ifndef QUIRE_SHARE_H
#define QUIRE_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/mask.h"
#include "process/peer.h"

/*
 * peer_fork(), where pages in the mask stay with the parent alone, exclusive and
 * writable. In the parent, the range is one mapping again afterwards.
 */
bool fork_without(struct peer *peer, char *addr, size_t pages,
		  unsigned long kib, const struct mask *mask);

/*
 * Fork a child that ends at once: afterwards all entries are read-only, so that
 * only what else they hold tells pages apart. The pages are still shared with
 * nobody.
 */
void fork_and_forget(void);

#endif
