// SPDX-License-Identifier: GPL-2.0
/*
 * A range that moves back and forth while other threads use it. Needs two CPUs
 * to show races; on one CPU, the scheduler can switch between the threads
 * anywhere.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "process/cpu.h"
#include "process/map.h"

#define MOVES		150

struct race {
	char *place[2];		/* the range is at one of them */
	size_t pages;
	uint64_t *value;	/* what the writer last wrote to each page */
	unsigned long rounds;
	unsigned long begun;	/* rounds that first_writer() may begin */
	char *drain;		/* a page of its own */
	bool end;
};

static bool ended(struct race *race)
{
	return __atomic_load_n(&race->end, __ATOMIC_SEQ_CST);
}

/* The writer uses the word at the end of each page, wherever the page is. */
static char *word_at(struct race *race, int place, size_t page)
{
	return page_at(race->place[place], page + 1) - sizeof(uint64_t);
}

static void write_somewhere(struct race *race, size_t page, uint64_t value)
{
	int place = 0;

	while (probe_write(word_at(race, place, page), value))
		place = !place;
}

static uint64_t read_somewhere(struct race *race, size_t page)
{
	uint64_t value;
	int place = 1;

	while (probe_read(word_at(race, place, page), &value))
		place = !place;
	return value;
}

static void *writer(void *arg)
{
	struct race *race = arg;
	uint64_t value = 0;
	size_t n;

	stay_on_cpu(cpu_count() - 1);
	while (!ended(race)) {
		for (n = 0; n < race->pages && !ended(race); n++) {
			EXPECT(read_somewhere(race, n) == race->value[n],
			       "page %zu lost a write", n);
			write_somewhere(race, n, ++value);
			race->value[n] = value;
		}
		__atomic_add_fetch(&race->rounds, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void start(struct race *race, pthread_t *thread, void *(*run)(void *))
{
	size_t n;

	race->value = allocate(race->pages, sizeof(*race->value));
	for (n = 0; n < race->pages; n++)
		write_somewhere(race, n, 0);
	if (pthread_create(thread, NULL, run, race))
		die("cannot start a thread");
}

static void finish(struct race *race, pthread_t thread)
{
	size_t n;

	__atomic_store_n(&race->end, true, __ATOMIC_SEQ_CST);
	if (pthread_join(thread, NULL))
		die("cannot join a thread");
	for (n = 0; n < race->pages; n++)
		EXPECT(read_somewhere(race, n) == race->value[n],
		       "page %zu lost its last write", n);
	free(race->value);
}

/* Every word of the page except the writer's holds the pattern. */
static void expect_others(struct race *race, char *at)
{
	static char want[MOST_PAGE_SIZE];
	size_t n;

	for (n = 0; n < race->pages; n++) {
		pattern_write_page(want, SEED, n);
		EXPECT(!memcmp(page_at(at, n), want,
			       PAGE_SIZE - sizeof(uint64_t)),
		       "page %zu does not hold its contents", n);
	}
}

static void move_about(struct race *race, unsigned int moves)
{
	unsigned int i;

	for (i = 0; i < moves; i++) {
		move(race->place[0], race->pages, race->place[1]);
		move(race->place[1], race->pages, race->place[0]);
	}
}

static void race_with_writer(unsigned long kib, size_t shift)
{
	size_t pages = range_pages(kib);
	struct race race = {
		.place = { range_filled(SRC_BASE, pages, kib),
			   range_hole(page_at(DST_BASE, shift), pages) },
		.pages = pages,
	};
	pthread_t thread;

	start(&race, &thread, writer);
	move_about(&race, MOVES * 64 / pages + 5);
	finish(&race, thread);
	expect_others(&race, race.place[0]);
	expect_gone(race.place[1], pages);
	range_drop(race.place[0], pages);
	range_drop(race.place[1], pages);
}

QUIRE_CASE_SIZES_CALL(mremap, race_writer, race_with_writer(kib, BLOCK), ALL_SIZES)
QUIRE_CASE_SIZES_CALL(mremap, race_writer_unaligned, race_with_writer(kib, 5), ALL_SIZES)

/*
 * Each page is freed lazily and clean. The first write makes its entry dirty,
 * by the hardware and maybe just then, when the entry moves. A page that lost
 * the mark would be dropped.
 */
#define FIRST_WRITES	40u

static unsigned long rounds_begun(struct race *race)
{
	return __atomic_load_n(&race->begun, __ATOMIC_SEQ_CST);
}

static void *first_writer(void *arg)
{
	struct race *race = arg;
	size_t n;

	stay_on_cpu(cpu_count() - 1);
	while (!ended(race)) {
		if (rounds_begun(race) == race->rounds)
			continue;
		for (n = 0; n < race->pages; n++) {
			write_somewhere(race, n, race->rounds + 1);
			race->value[n] = race->rounds + 1;
		}
		__atomic_add_fetch(&race->rounds, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void free_lazily(struct race *race)
{
	size_t n;

	for (n = 0; n < race->pages; n++)
		pattern_write_page(page_at(race->place[0], n), SEED, n);
	if (madvise(race->place[0], race->pages * PAGE_SIZE, MADV_FREE) ||
	    madvise(race->drain, PAGE_SIZE, MADV_COLD))
		die_errno("MADV_FREE or MADV_COLD");
}

QUIRE_CASE_SIZES(mremap, race_first_write, 4, 64)
{
	size_t pages = range_pages(kib), n;
	struct race race = { .pages = pages, .drain = map_anon(NULL, PAGE_SIZE) };
	pthread_t thread;
	uint64_t word;

	swap_on(SWAP_FOR_TESTS);
	race.place[0] = range_filled(SRC_BASE, pages, kib);
	race.place[1] = range_hole(page_at(DST_BASE, BLOCK + 3), pages);
	start(&race, &thread, first_writer);
	while (race.begun < FIRST_WRITES) {
		free_lazily(&race);
		__atomic_add_fetch(&race.begun, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&race.rounds, __ATOMIC_SEQ_CST) <
		       race.begun)
			move_about(&race, 1);
		page_out(race.place[0], pages * PAGE_SIZE);
		for (n = 0; n < pages; n++) {
			word = 0;
			if (probe_read(word_at(&race, 0, n), &word))
				die("page %zu is not mapped", n);
			EXPECT(word == race.begun,
			       "page %zu was dropped after a write", n);
		}
	}
	finish(&race, thread);
}

/* Reclaim finds pages by rmap, without the lock that a move holds. */
static void *reclaimer(void *arg)
{
	struct race *race = arg;

	stay_on_cpu(cpu_count() - 1);
	while (!ended(race)) {
		memcg_reclaim_kib(256);
		__atomic_add_fetch(&race->rounds, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

QUIRE_CASE_SIZES(mremap, race_reclaim, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	struct race race = { .pages = pages };
	pthread_t thread;

	swap_on(SWAP_FOR_TESTS);
	memcg_enter();
	race.place[0] = range_filled(SRC_BASE, pages, kib);
	race.place[1] = range_hole(page_at(DST_BASE, BLOCK), pages);
	start(&race, &thread, reclaimer);
	while (__atomic_load_n(&race.rounds, __ATOMIC_SEQ_CST) < 8) {
		move_about(&race, 4);
		expect_others(&race, race.place[0]);
	}
	finish(&race, thread);
	expect_others(&race, race.place[0]);
	expect_writable(race.place[0], pages);
	expect_guards();
}
