// SPDX-License-Identifier: GPL-2.0
/*
 * A thread writes to a range, on another CPU if there is one, while this one
 * changes its protection, or NUMA balancing makes its entries PROT_NONE.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/random.h"
#include "kernel/nodes.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "proc/proc.h"
#include "process/child.h"
#include "process/cpu.h"
#include "report/die.h"
#include "run/ktap.h"

#define ROUNDS		200u
#define RACE_SECONDS	60

struct race {
	char *at;
	size_t pages;
	bool end;
	bool busy;		/* the writer is at a page */
	unsigned long writes;
	uint64_t value[2 * MOST_PMD_PAGES];	/* last written to each page */
};

static uint64_t *word_of(struct race *race, size_t page)
{
	return (uint64_t *)page_at(race->at, page) + page % 512;
}

static bool ended(struct race *race)
{
	return __atomic_load_n(&race->end, __ATOMIC_SEQ_CST);
}

/* Writes where it may, and checks that what it wrote before is still there. */
static void *writer(void *arg)
{
	struct race *race = arg;

	uint32_t random = 4711;
	uint64_t is, value = 0;
	size_t page;

	stay_on_cpu(cpu_count() - 1);
	while (!ended(race)) {
		page = random_below(&random, race->pages);
		if (!probe_read(word_of(race, page), &is))
			EXPECT(is == race->value[page],
			       "page %zu holds %llu, not %llu", page,
			       (unsigned long long)is,
			       (unsigned long long)race->value[page]);
		value++;
		if (!probe_write(word_of(race, page), value)) {
			race->value[page] = value;
			__atomic_add_fetch(&race->writes, 1, __ATOMIC_SEQ_CST);
		}
		if (value % 32 == 0)
			sched_yield();
	}
	return NULL;
}

static void start(struct race *race, pthread_t *thread)
{
	size_t n;

	for (n = 0; n < race->pages; n++)
		*word_of(race, n) = 0;
	if (pthread_create(thread, NULL, writer, race))
		die("cannot start a thread");
	while (!__atomic_load_n(&race->writes, __ATOMIC_SEQ_CST))
		sched_yield();
}

static void finish(struct race *race, pthread_t thread)
{
	size_t n;

	__atomic_store_n(&race->end, true, __ATOMIC_SEQ_CST);
	if (pthread_join(thread, NULL))
		die("cannot join a thread");
	for (n = 0; n < race->pages; n++)
		EXPECT(*word_of(race, n) == race->value[n],
		       "page %zu lost its last write", n);
}

static struct race *new_race(unsigned long kib)
{
	struct race *race = allocate(1, sizeof(*race));

	race->pages = range_pages(kib);
	race->at = range_by_ptes(kib);
	return race;
}

static void expect_unwritten(struct race *race)
{
	static uint64_t was[2 * MOST_PMD_PAGES];
	size_t n;

	for (n = 0; n < race->pages; n++)
		was[n] = *word_of(race, n);
	sched_yield();
	sleep_ms(1);
	for (n = 0; n < race->pages; n++)
		EXPECT(*word_of(race, n) == was[n],
		       "page %zu was written while it was read-only", n);
}

QUIRE_CASE_FULL(mprotect, race_writer, RACE_SECONDS * 1000u,
		KTAP_SIZES(4, 16, 64, 2048))
{
	struct race *race = new_race(kib);
	unsigned int i, rounds = folio_pages(kib) > BLOCK ? ROUNDS / 8 : ROUNDS;
	pthread_t thread;

	start(race, &thread);
	for (i = 0; i < rounds; i++) {
		size_t from = i % 3 * 5, to = race->pages - i % 2 * 7;

		range_protect(race->at, race->pages, PROT_READ);
		expect_unwritten(race);
		range_protect(race->at, race->pages, PROT_READ | PROT_WRITE);
		range_protect(page_at(race->at, from), to - from, PROT_NONE);
		range_protect(race->at, race->pages, PROT_READ | PROT_WRITE);
		sched_yield();
	}
	finish(race, thread);
	free(race);
}

/* Children share the pages for a while: each write of the writer stays here. */
QUIRE_CASE_FULL(mprotect, race_fork, RACE_SECONDS * 1000u,
		KTAP_SIZES(4, 16, 64))
{
	struct race *race = new_race(kib);
	pthread_t thread;
	unsigned int i;
	pid_t pid;

	start(race, &thread);
	for (i = 0; i < ROUNDS / 8; i++) {
		pid = fork_child();
		if (!pid) {
			expect_unwritten(race);
			exit(STATUS_OK);
		}
		range_protect(race->at, race->pages, PROT_READ);
		range_protect(race->at, race->pages, PROT_READ | PROT_WRITE);
		wait_child(pid, "a child of the race");
	}
	finish(race, thread);
	free(race);
}

/*
 * A process with two threads gets hints even on one node: the entries of its
 * pages become PROT_NONE, and the next access makes each accessible again.
 */
QUIRE_CASE_FULL(mprotect, numa_hints, RACE_SECONDS * 1000u,
		KTAP_SIZES(4, 16, 64, 2048))
{
	struct race *race = new_race(kib);
	unsigned long before, updates;
	pthread_t thread;
	unsigned int i;

	if (!nodes_balance_often(true))
		SKIP("this kernel has no NUMA balancing");
	before = vmstat("numa_pte_updates");
	start(race, &thread);
	for (i = 0; i < 200; i++) {
		sleep_ms(5);
		updates = vmstat("numa_pte_updates") - before;
		if (updates > 4 * race->pages)
			break;
		range_protect(race->at, race->pages, PROT_READ);
		range_protect(race->at, race->pages, PROT_READ | PROT_WRITE);
	}
	finish(race, thread);
	EXPECT(updates >= race->pages, "only %lu hints for %zu pages", updates,
	       race->pages);
	EXPECT(vmstat("numa_hint_faults"), "no fault by a hint");
	nodes_balance_often(false);
	free(race);
}
