// SPDX-License-Identifier: GPL-2.0
/*
 * A thread, on another CPU if there is one, that uses the pages while reclaim
 * is at work on them. Between MADV_FREE and the end of a round it alone
 * decides what they must hold.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "env.h"
#include "folio.h"
#include "lazyfree.h"
#include "memcg.h"
#include "pattern.h"
#include "proc.h"
#include "swap.h"

#define ROUNDS		12u
#define WARM_UP_MS	1u

/* What a page may hold in this round. */
enum state { OLD_OR_ZERO, ZERO, WRITTEN };

struct racer {
	pthread_t thread;
	void (*step)(struct racer *racer, size_t page);
	char *addr;
	size_t pages;
	uint64_t old;		/* the word the round began with, or the seed */
	uint64_t next;		/* the value of the next write */
	uint32_t random;
	unsigned int round;	/* 0: stay off the pages */
	unsigned int acted;	/* the round the thread is in */
	bool end;
	unsigned long steps;
	struct {
		enum state state;
		uint64_t value;
	} page[];
};

static uint32_t next_random(struct racer *racer)
{
	racer->random = racer->random * 1664525 + 1013904223;
	return racer->random >> 8;
}

/* One word a page, at another place in each. */
static volatile uint64_t *word_of(struct racer *racer, size_t page)
{
	return (uint64_t *)page_at(racer->addr, page) + page % 512;
}

static void expect_word(struct racer *racer, size_t page, uint64_t is)
{
	enum state state = racer->page[page].state;

	if (state == WRITTEN)
		EXPECT(is == racer->page[page].value,
		       "page %zu holds %#llx, but %#llx was written", page,
		       (unsigned long long)is,
		       (unsigned long long)racer->page[page].value);
	else
		EXPECT(!is || (state == OLD_OR_ZERO && is == racer->old),
		       "page %zu holds %#llx, expected 0 or old data", page,
		       (unsigned long long)is);
}

/* Read, check, and mostly write; now and then give the page back. */
static void step_write(struct racer *racer, size_t page)
{
	volatile uint64_t *word = word_of(racer, page);
	uint64_t is = *word;

	expect_word(racer, page, is);
	if (!is)
		racer->page[page].state = ZERO;	/* once dropped, for good */
	if (next_random(racer) % 32 == 0) {
		if (madvise(page_at(racer->addr, page), PAGE_SIZE,
			    MADV_DONTNEED))
			die_errno("MADV_DONTNEED");
		racer->page[page].state = ZERO;
	} else if (next_random(racer) % 4) {
		racer->page[page].value = racer->next++;
		racer->page[page].state = WRITTEN;
		*word = racer->page[page].value;
	}
}

/* Refer to a page from a pipe, and read it there. */
static void step_hold(struct racer *racer, size_t page)
{
	static char copy[PAGE_SIZE] __attribute__((aligned(8)));
	struct hold hold = hold_start();

	hold_page(&hold, page_at(racer->addr, page));
	sched_yield();
	hold_read(&hold, copy);
	hold_end(&hold);
	EXPECT(pattern_verify_page(copy, racer->old, page) < 0 ||
	       pattern_verify_zero(copy, PAGE_SIZE) < 0,
	       "what refers to page %zu reads something else", page);
}

static void *race(void *arg)
{
	struct racer *racer = arg;
	unsigned int round;

	stay_on_cpu(cpu_count() - 1);
	while (!__atomic_load_n(&racer->end, __ATOMIC_SEQ_CST)) {
		round = __atomic_load_n(&racer->round, __ATOMIC_SEQ_CST);
		__atomic_store_n(&racer->acted, round, __ATOMIC_SEQ_CST);
		if (!round) {
			sched_yield();
			continue;
		}
		racer->step(racer, next_random(racer) % racer->pages);
		racer->steps++;
	}
	return NULL;
}

static struct racer *racer_start(char *addr, size_t pages,
				 void (*step)(struct racer *, size_t))
{
	struct racer *racer;

	racer = calloc(1, sizeof(*racer) + pages * sizeof(racer->page[0]));
	if (!racer)
		die("no memory for a race");
	racer->step = step;
	racer->addr = addr;
	racer->pages = pages;
	racer->next = 1;
	if (pthread_create(&racer->thread, NULL, race, racer))
		die("cannot start a thread");
	return racer;
}

/* Let the thread on the pages, or (0) off them, and wait until it is. */
static void racer_round(struct racer *racer, unsigned int round)
{
	__atomic_store_n(&racer->round, round, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&racer->acted, __ATOMIC_SEQ_CST) != round)
		sched_yield();
}

static void racer_end(struct racer *racer)
{
	__atomic_store_n(&racer->end, true, __ATOMIC_SEQ_CST);
	if (pthread_join(racer->thread, NULL))
		die("cannot join a thread");
	EXPECT(racer->steps > ROUNDS, "the thread did only %lu steps",
	       racer->steps);
	free(racer);
}

/* Reclaim once or twice while the thread is on the pages. */
static void reclaim_raced(struct racer *racer, unsigned int round, enum how how)
{
	racer_round(racer, round);
	sleep_ms(WARM_UP_MS);
	if (how == BY_MEMCG) {
		memcg_reclaim();
	} else {
		page_out(racer->addr, racer->pages * PAGE_SIZE);
		page_out(racer->addr, racer->pages * PAGE_SIZE);
	}
	racer_round(racer, 0);
}

static void round_of_writes(struct racer *racer, unsigned int round,
			    unsigned long kib, enum how how)
{
	size_t n;

	racer->old = 0x01d0000000000000ull + round;
	/* Folios anew: what was dropped, or came back from swap, is small. */
	if (madvise(racer->addr, racer->pages * PAGE_SIZE, MADV_DONTNEED))
		die_errno("MADV_DONTNEED");
	range_fill(racer->addr, racer->pages, kib, SEED);
	for (n = 0; n < racer->pages; n++) {
		*word_of(racer, n) = racer->old;
		racer->page[n].state = OLD_OR_ZERO;
	}
	if (madvise(racer->addr, racer->pages * PAGE_SIZE, MADV_FREE))
		die_errno("MADV_FREE");
	reclaim_raced(racer, round, how);
	for (n = 0; n < racer->pages; n++)
		expect_word(racer, n, *word_of(racer, n));
}

static void race_writes(unsigned long kib, enum how how)
{
	size_t pages = range_pages(kib);
	struct racer *racer;
	unsigned int round;
	char *at;

	memcg_enter();
	at = range_filled(SRC_BASE, pages, kib);
	racer = racer_start(at, pages, step_write);
	for (round = 1; round <= ROUNDS; round++)
		round_of_writes(racer, round, kib, how);
	racer_end(racer);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, race_writer, ALL_SIZES)
{
	race_writes(kib, BY_PAGEOUT);
}

QUIRE_CASE_SIZES(lazyfree, race_writer_memcg, ALL_SIZES)
{
	race_writes(kib, BY_MEMCG);
}

QUIRE_CASE_SIZES(lazyfree, race_writer_swap, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	race_writes(kib, BY_PAGEOUT);
}

QUIRE_CASE_SIZES(lazyfree, race_hold, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct racer *racer;
	unsigned int round;
	char *at;

	memcg_enter();
	at = range_filled(SRC_BASE, pages, kib);
	racer = racer_start(at, pages, step_hold);
	for (round = 1; round <= ROUNDS; round++) {
		racer->old = SEED + round;
		range_fill(at, pages, kib, racer->old);
		if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
			die_errno("MADV_FREE");
		reclaim_raced(racer, round, BY_PAGEOUT);
	}
	racer_end(racer);
	range_drop(at, pages);
}
