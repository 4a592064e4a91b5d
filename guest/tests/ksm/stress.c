// SPDX-License-Identifier: GPL-2.0
/*
 * All at once: ksmd merges without a pause while processes write, move, split,
 * fork and swap, and merged pages are migrated. No byte may be lost.
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "worker.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "proc/proc.h"
#include "process/child.h"
#include "process/map.h"

#define ACTORS		4u
#define ROUNDS		60u	/* at least; a slow ksmd gets more */
#define ROUNDS_MAX	(20 * ROUNDS)
#define STRESS_PAGES	32ul
#define CONTENTS	5u	/* few, so that most pages find an equal */
#define SWAP_MIB	(32 * PAGE_SCALE)

/*
 * The contents of page n in round r of an actor, in its own pseudo-random
 * order.
 */
static unsigned int content(unsigned int actor, unsigned int round, size_t n)
{
	return (actor * 7 + round / 4 * 3 + n * 5 + n / 3) % CONTENTS;
}

static void write_some(char *range, unsigned int actor, unsigned int round)
{
	size_t n;

	/*
	 * In round 4k pages get contents 4k; the rounds between only check
	 * them.
	 */
	for (n = 0; round % 4 == 0 && n < STRESS_PAGES; n++)
		pattern_write_page(page_of(range, n), SEED,
				   content(actor, round, n));
}

static void verify(const char *range, unsigned int actor, unsigned int round)
{
	long byte;
	size_t n;

	for (n = 0; n < STRESS_PAGES; n++) {
		byte = pattern_verify_page(range + n * PAGE_SIZE, SEED,
					   content(actor, round, n));
		EXPECT(byte < 0, "actor %u, round %u: page %zu, byte %ld",
		       actor, round, n, byte);
	}
}

static void child_looks(const char *range, unsigned int actor,
			unsigned int round)
{
	if (!fork_child()) {
		sleep_ms(10 + round % 7);
		verify(range, actor, round);
		_exit(STATUS_OK);
	}
}

static void cut(char *range, unsigned int round)
{
	char *page = page_of(range, round % (STRESS_PAGES - 3));

	if (mprotect(page, 3 * PAGE_SIZE, PROT_READ))
		die_errno("cannot protect a part of the range");
	sleep_ms(1);
	if (mprotect(page, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE))
		die_errno("cannot lift the protection");
}

static void __attribute__((noreturn)) actor(unsigned int nr,
					    const volatile bool *done)
{
	char *here = HOME + nr * 16 * MIB, *there = AWAY + nr * 16 * MIB, *swap;
	unsigned int round;

	map_anon(here, STRESS_PAGES * PAGE_SIZE);
	range_mergeable(here, STRESS_PAGES);
	for (round = 0; round < ROUNDS || !*done; round++) {
		write_some(here, nr, round);
		sleep_ms(7 + nr);
		if (round % 3 == nr % 3) {
			range_move(here, STRESS_PAGES, there);
			swap = here;
			here = there;
			there = swap;
		}
		if (round % 5 == 1)
			child_looks(here, nr, round);
		if (round % 2)
			cut(here, round);
		if (round % 7 == 3)	/* may be refused: an extra reference */
			act_soft_offline(page_of(here, round % STRESS_PAGES), 0);
		verify(here, nr, round);
	}
	wait_children("a child that looks");
	exit(STATUS_OK);
}

QUIRE_CASE_TIMEOUT(ksm, stress, 60)
{
	pid_t pids[ACTORS];
	unsigned int nr, round;
	unsigned long merged = 0;

	volatile bool *done;

	done = map_or_die(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ksm_begin();
	swap_on(SWAP_MIB);
	ksm_set("sleep_millisecs", 2);
	ksm_set("run", 1);
	for (nr = 0; nr < ACTORS; nr++) {
		pids[nr] = fork_child();
		if (!pids[nr])
			actor(nr, done);
	}
	for (round = 0; round < ROUNDS ||
	     (merged <= STRESS_PAGES && round < ROUNDS_MAX); round++) {
		sleep_ms(8);
		if (ksm_sysfs("pages_sharing") > merged)
			merged = ksm_sysfs("pages_sharing");
		if (round % 4 == 2)
			try_write_file(KSM_CGROUP "/memory.reclaim", "256K");
		if (round % 16 == 9)
			try_write_file("/proc/sys/vm/compact_memory", "1");
		if (round % 20 == 19)
			ksm_set("run", 2);
		ksm_set("run", 1);
	}
	*done = true;
	for (nr = 0; nr < ACTORS; nr++)
		wait_child(pids[nr], "an actor");
	ksm_set("run", 0);
	EXPECT(merged > STRESS_PAGES, "only %lu pages were ever merged", merged);
}
