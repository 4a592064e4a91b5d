// SPDX-License-Identifier: GPL-2.0
/* A thread that uses pages during swap-out. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/racer.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "process/child.h"
#include "swapout.h"

static void round_of_writes(struct racer *racer, unsigned int round,
			    unsigned long kib, enum how how)
{
	size_t n;

	/* New folios: swapped-in pages may be small ones. */
	racer_refill(racer, kib, SEED);
	for (n = 0; n < racer->pages; n++) {
		racer->page[n].value = racer->next++;
		racer->page[n].state = WRITTEN;
		*racer_word(racer, n) = racer->page[n].value;
	}
	racer_reclaim(racer, round, how);
	for (n = 0; n < racer->pages; n++)
		racer_expect(racer, n, *racer_word(racer, n));
}

static const struct race writes = { racer_write, round_of_writes, false };

SWAPOUT_CASE(race_writer, ALL_SIZES)
{
	race(&writes, swapout_range(kib, true), kib, BY_PAGEOUT);
}

SWAPOUT_CASE(race_writer_memcg, ALL_SIZES)
{
	race(&writes, swapout_range(kib, true), kib, BY_MEMCG);
}

static void round_of_forks(struct racer *racer, unsigned int round,
			   unsigned long kib, enum how how)
{
	pid_t pid = fork_child();

	if (!pid) {
		sleep_ms(2);
		exit(STATUS_OK);
	}
	round_of_writes(racer, round, kib, how);
	wait_child(pid, "a child that only waits");
}

/* A writer, and children forked during reclaim. */
SWAPOUT_CASE(race_forks, ALL_SIZES)
{
	const struct race forks = { racer_write, round_of_forks, false };

	race(&forks, swapout_range(kib, true), kib, BY_BOTH);
}

static void round_of_holds(struct racer *racer, unsigned int round,
			   unsigned long kib, enum how how)
{
	racer->old = SEED + round;
	racer_refill(racer, kib, racer->old);
	racer_reclaim(racer, round, how);
	expect_content(racer->addr, racer->pages, racer->old, 0);
}

SWAPOUT_CASE(race_hold, ALL_SIZES)
{
	const struct race holds = { racer_hold, round_of_holds, false };

	race(&holds, swapout_range(kib, true), kib, BY_BOTH);
}

/* A device in memory; its block n holds page n of SEED_NEW. */
#define BLOCKS 16u
static int device;

/*
 * Direct I/O pins a page and reads into it. Whether reclaim comes before, after
 * or between, the process then has this page.
 */
static void read_direct(struct racer *racer, size_t page)
{
	size_t block = page % BLOCKS;

	if (pread(device, page_at(racer->addr, page), PAGE_SIZE,
		  block * PAGE_SIZE) != (ssize_t)PAGE_SIZE)
		die_errno("direct read of block %zu", block);
	EXPECT(pattern_verify_page(page_at(racer->addr, page), SEED_NEW,
				   block) < 0,
	       "what was read into page %zu is not there", page);
}

static void round_of_pins(struct racer *racer, unsigned int round,
			  unsigned long kib, enum how how)
{
	racer_refill(racer, kib, SEED);
	racer_reclaim(racer, round, how);
}

SWAPOUT_CASE(race_pins, ALL_SIZES)
{
	const struct race pins = { read_direct, round_of_pins, false };

	device = swap_open_spare_filled(BLOCKS, SEED_NEW);
	race(&pins, swapout_range(kib, true), kib, BY_BOTH);
	close(device);
}
