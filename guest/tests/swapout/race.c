// SPDX-License-Identifier: GPL-2.0
/* A thread that uses pages while they are being swapped out. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/racer.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "process/child.h"
#include "process/map.h"
#include "swapout.h"

static void round_of_writes(struct racer *racer, unsigned int round,
			    unsigned long kib, enum how how)
{
	size_t n;

	/* Folios anew: what came back from swap may be small. */
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

static void race_writes(unsigned long kib, enum how how)
{
	size_t pages = range_pages(kib);
	struct racer *racer;
	unsigned int round;
	char *at;

	swapout_start(SWAP_MIB);
	at = swapout_range(kib, true);
	racer = racer_start(at, pages, racer_write);
	for (round = 1; round <= RACER_ROUNDS; round++)
		round_of_writes(racer, round, kib, how);
	racer_end(racer);
	range_drop(at, pages);
	swapout_end();
}

QUIRE_CASE_SIZES(swapout, race_writer, ALL_SIZES)
{
	race_writes(kib, BY_PAGEOUT);
}

QUIRE_CASE_SIZES(swapout, race_writer_memcg, ALL_SIZES)
{
	race_writes(kib, BY_MEMCG);
}

/* A writer, and children forked while reclaim is at work. */
QUIRE_CASE_SIZES(swapout, race_forks, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct racer *racer;
	unsigned int round;
	char *at;

	swapout_start(SWAP_MIB);
	at = swapout_range(kib, true);
	racer = racer_start(at, pages, racer_write);
	for (round = 1; round <= RACER_ROUNDS; round++) {
		pid_t pid = fork_child();

		if (!pid) {
			sleep_ms(2);
			exit(STATUS_OK);
		}
		round_of_writes(racer, round, kib, round % NR_HOW);
		wait_child(pid, "a child that only waits");
	}
	racer_end(racer);
	range_drop(at, pages);
	swapout_end();
}

QUIRE_CASE_SIZES(swapout, race_hold, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct racer *racer;
	unsigned int round;
	char *at;

	swapout_start(SWAP_MIB);
	at = swapout_range(kib, true);
	racer = racer_start(at, pages, racer_hold);
	for (round = 1; round <= RACER_ROUNDS; round++) {
		racer->old = SEED + round;
		racer_refill(racer, kib, racer->old);
		racer_reclaim(racer, round, round % NR_HOW);
		expect_content(at, pages, racer->old, 0);
	}
	racer_end(racer);
	range_drop(at, pages);
	swapout_end();
}

/* A device in memory, block n of which holds page n of SEED_NEW. */
#define BLOCKS 16u
static int device;

static void device_open(void)
{
	char *buffer = map_anon(NULL, BLOCKS * PAGE_SIZE);

	device = open(swap_spare_device(BLOCKS), O_RDWR | O_DIRECT | O_CLOEXEC);
	pattern_write(buffer, BLOCKS * PAGE_SIZE, SEED_NEW);
	if (device < 0 || pwrite(device, buffer, BLOCKS * PAGE_SIZE, 0) !=
	    (ssize_t)(BLOCKS * PAGE_SIZE))
		die_errno("cannot fill the spare device");
	unmap(buffer, BLOCKS * PAGE_SIZE);
}

/*
 * Direct I/O pins a page and reads into it: whether reclaim comes before, after
 * or between, that is the page which the process then has.
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

QUIRE_CASE_SIZES(swapout, race_pins, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct racer *racer;
	unsigned int round;
	char *at;

	swapout_start(SWAP_MIB);
	device_open();
	at = swapout_range(kib, true);
	racer = racer_start(at, pages, read_direct);
	for (round = 1; round <= RACER_ROUNDS; round++) {
		racer_refill(racer, kib, SEED);
		racer_reclaim(racer, round, round % NR_HOW);
	}
	racer_end(racer);
	close(device);
	range_drop(at, pages);
	swapout_end();
}
