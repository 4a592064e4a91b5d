// SPDX-License-Identifier: GPL-2.0
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "kernel/memcg.h"
#include "kernel/racer.h"
#include "kernel/swap.h"
#include "memory/hold.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "process/cpu.h"
#include "report/die.h"
#include "report/expectation.h"

#define WARM_UP_MS	1u

static uint32_t next_random(struct racer *racer)
{
	racer->random = racer->random * 1664525 + 1013904223;
	return racer->random >> 8;
}

/* The thread uses one word of each page, at a different offset in each. */
volatile uint64_t *racer_word(struct racer *racer, size_t page)
{
	return (uint64_t *)page_at(racer->addr, page) + page % 512;
}

void racer_expect(struct racer *racer, size_t page, uint64_t is)
{
	enum racer_state state = racer->page[page].state;

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

/* Read and check the word, and usually write it; sometimes drop the page. */
void racer_write(struct racer *racer, size_t page)
{
	volatile uint64_t *word = racer_word(racer, page);
	uint64_t is = *word;

	racer_expect(racer, page, is);
	if (!is)
		racer->page[page].state = ZERO;	/* once zapped, for good */
	if (next_random(racer) % 32 == 0) {
		range_advise(page_at(racer->addr, page), 1, MADV_DONTNEED);
		racer->page[page].state = ZERO;
	} else if (next_random(racer) % 4) {
		racer->page[page].value = racer->next++;
		racer->page[page].state = WRITTEN;
		*word = racer->page[page].value;
	}
}

/* Take a reference to a page by a pipe, and read the page there. */
void racer_hold(struct racer *racer, size_t page)
{
	static char copy[MOST_PAGE_SIZE] __attribute__((aligned(8)));
	struct hold hold = hold_start();

	hold_page(&hold, page_at(racer->addr, page));
	sched_yield();
	hold_read(&hold, copy);
	hold_end(&hold);
	EXPECT(pattern_verify_page(copy, racer->old, page) < 0 ||
	       (racer->may_drop && pattern_verify_zero(copy, PAGE_SIZE) < 0),
	       "a reference to page %zu reads other contents", page);
}

static void *racing(void *arg)
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

static struct racer *start(const struct race *race, char *addr, size_t pages)
{
	struct racer *racer = allocate(1, sizeof(*racer) +
				       pages * sizeof(racer->page[0]));

	racer->step = race->step;
	racer->may_drop = race->may_drop;
	racer->addr = addr;
	racer->pages = pages;
	racer->next = 1;
	if (pthread_create(&racer->thread, NULL, racing, racer))
		die("cannot start a thread");
	return racer;
}

/* Send the thread to the pages, or (0) away from them, and wait for it. */
static void racer_round(struct racer *racer, unsigned int round)
{
	__atomic_store_n(&racer->round, round, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&racer->acted, __ATOMIC_SEQ_CST) != round)
		sched_yield();
}

/* The thread has to make some steps. */
static void end(struct racer *racer)
{
	__atomic_store_n(&racer->end, true, __ATOMIC_SEQ_CST);
	if (pthread_join(racer->thread, NULL))
		die("cannot join a thread");
	EXPECT(racer->steps > RACER_ROUNDS, "the thread did only %lu steps",
	       racer->steps);
	free(racer);
}

/* Reclaim once or twice while the thread uses the pages. */
void racer_reclaim(struct racer *racer, unsigned int round, enum how how)
{
	racer_round(racer, round);
	sleep_ms(WARM_UP_MS);
	if (how == BY_MEMCG) {
		memcg_reclaim_kib(2 * racer->pages * PAGE_SIZE / KIB);
	} else {
		page_out(racer->addr, racer->pages * PAGE_SIZE);
		page_out(racer->addr, racer->pages * PAGE_SIZE);
	}
	racer_round(racer, 0);
}

void racer_refill(struct racer *racer, unsigned long kib, uint64_t seed)
{
	range_advise(racer->addr, racer->pages, MADV_DONTNEED);
	range_fill(racer->addr, racer->pages, kib, seed);
}

void race(const struct race *race, char *addr, unsigned long kib, enum how how)
{
	size_t pages = range_pages(kib);
	struct racer *racer = start(race, addr, pages);
	unsigned int n;

	for (n = 1; n <= RACER_ROUNDS; n++)
		race->round(racer, n, kib, how == BY_BOTH ? n % NR_HOW : how);
	end(racer);
	range_drop(addr, pages);
}
