// SPDX-License-Identifier: GPL-2.0
/*
 * A thread writes to the pages all the time, on another CPU if there is one,
 * while this process forks. A child must never see what is written after its
 * fork, nor by a pipe what is written after it took the page; and no write of
 * the thread gets lost, whatever children write.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "cow.h"
#include "process/child.h"
#include "process/cpu.h"

#define ROUNDS		80u
#define RACE_SECONDS	60u
#define BIT_OF_CHILD	(1ull << 63)

struct writer {
	pthread_t thread;
	char *at;
	size_t pages;
	bool end;
	uint64_t *last;		/* what it wrote last to each page */
	unsigned long writes;
};

static void *write_until_end(void *arg)
{
	struct writer *writer = arg;

	uint32_t random = 99;
	uint64_t value = 0;
	size_t page;

	stay_on_cpu(cpu_count() - 1);
	while (!__atomic_load_n(&writer->end, __ATOMIC_SEQ_CST)) {
		random = random * 1664525 + 1013904223;
		page = (random >> 8) % writer->pages;
		if (value) {
			uint64_t is = cow_word(writer->at, page);

			EXPECT(is == writer->last[page],
			       "page %zu has %#llx, and the last write was %#llx",
			       page, (unsigned long long)is,
			       (unsigned long long)writer->last[page]);
		}
		cow_mark(writer->at, page, ++value);
		writer->last[page] = value;
		writer->writes++;
		if (value % 32 == 0)
			sched_yield();
	}
	return NULL;
}

/* Reads all pages; no second look may differ. Then writes. */
static void child_looks(char *at, size_t pages, unsigned int round)
{
	static uint64_t seen[2 * MOST_PMD_PAGES];
	struct hold hold = hold_start();
	static char copy[MOST_PAGE_SIZE];
	size_t n, held = round % pages;
	unsigned int look;
	uint64_t taken;

	hold_page(&hold, page_at(at, held));
	taken = cow_word(at, held);
	for (n = 0; n < pages; n++)
		seen[n] = cow_word(at, n);
	for (look = 0; look < 3; look++) {
		sched_yield();
		for (n = 0; n < pages; n++)
			EXPECT(cow_word(at, n) == seen[n],
			       "page %zu of a child changed from %#llx to %#llx",
			       n, (unsigned long long)seen[n],
			       (unsigned long long)cow_word(at, n));
		for (n = look; n < pages; n += 3) {
			cow_mark(at, n, BIT_OF_CHILD | round);
			seen[n] = BIT_OF_CHILD | round;
		}
	}
	munmap(at, pages * PAGE_SIZE);
	sched_yield();
	hold_read(&hold, copy);
	EXPECT(cow_word(copy - held * PAGE_SIZE, held) == taken,
	       "the pipe of a child shows a later write");
	exit(STATUS_OK);
}

QUIRE_CASE_FULL(cow, race, RACE_SECONDS * 1000u, KTAP_SIZES(4, 16, 64, 256, 2048))
{
	struct writer writer = { .pages = range_pages(kib) };
	pid_t child[2] = { 0, 0 };
	unsigned int i;
	size_t n;

	writer.at = range_by_ptes(kib);
	writer.last = allocate(writer.pages, sizeof(*writer.last));
	for (n = 0; n < writer.pages; n++)
		writer.last[n] = cow_word(writer.at, n);
	if (pthread_create(&writer.thread, NULL, write_until_end, &writer))
		die("cannot start a thread");
	for (i = 0; i < ROUNDS; i++) {
		pid_t *slot = &child[i % 2];

		if (*slot)
			wait_child(*slot, "a child of the race");
		*slot = fork_child();
		if (!*slot)
			child_looks(writer.at, writer.pages, i);
		sched_yield();
	}
	for (i = 0; i < 2; i++)
		wait_child(child[i], "the last children");
	__atomic_store_n(&writer.end, true, __ATOMIC_SEQ_CST);
	pthread_join(writer.thread, NULL);
	EXPECT(writer.writes > ROUNDS, "only %lu writes", writer.writes);
	for (n = 0; n < writer.pages; n++) {
		EXPECT(cow_word(writer.at, n) == writer.last[n],
		       "page %zu lost the last write", n);
		cow_expect_rest(writer.at, n);
	}
	free(writer.last);
}
