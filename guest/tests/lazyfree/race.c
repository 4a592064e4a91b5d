// SPDX-License-Identifier: GPL-2.0
/* A thread that uses lazily freed pages during reclaim. */
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/racer.h"
#include "kernel/swap.h"
#include "lazyfree.h"

static void round_of_writes(struct racer *racer, unsigned int round,
			    unsigned long kib, enum how how)
{
	size_t n;

	racer->old = 0x01d0000000000000ull + round;
	/* New folios: dropped or swapped-in pages are small ones now. */
	racer_refill(racer, kib, SEED);
	for (n = 0; n < racer->pages; n++) {
		*racer_word(racer, n) = racer->old;
		racer->page[n].state = OLD_OR_ZERO;
	}
	range_advise(racer->addr, racer->pages, MADV_FREE);
	racer_reclaim(racer, round, how);
	for (n = 0; n < racer->pages; n++)
		racer_expect(racer, n, *racer_word(racer, n));
}

static void race_of(const struct race *what, unsigned long kib, enum how how)
{
	memcg_enter();
	race(what, range_filled(SRC_BASE, range_pages(kib), kib), kib, how);
}

static const struct race writes = { racer_write, round_of_writes, true };

QUIRE_CASE_SIZES_CALL(lazyfree, race_writer, race_of(&writes, kib, BY_PAGEOUT), ALL_SIZES)
QUIRE_CASE_SIZES_CALL(lazyfree, race_writer_memcg, race_of(&writes, kib, BY_MEMCG), ALL_SIZES)

QUIRE_CASE_SIZES(lazyfree, race_writer_swap, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	race_of(&writes, kib, BY_PAGEOUT);
}

static void round_of_holds(struct racer *racer, unsigned int round,
			   unsigned long kib, enum how how)
{
	racer->old = SEED + round;
	range_fill(racer->addr, racer->pages, kib, racer->old);
	range_advise(racer->addr, racer->pages, MADV_FREE);
	racer_reclaim(racer, round, how);
}

QUIRE_CASE_SIZES(lazyfree, race_hold, ALL_SIZES)
{
	const struct race holds = { racer_hold, round_of_holds, true };

	race_of(&holds, kib, BY_PAGEOUT);
}
