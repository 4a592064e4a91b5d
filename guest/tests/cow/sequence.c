// SPDX-License-Identifier: GPL-2.0
/*
 * Up to four processes, forked from each other, write to the pages they share,
 * drop them, move them, swap them out, end or are killed, in an order drawn from
 * a fixed sequence. After each step, each of them finds in each page what it
 * wrote itself, or had at its fork.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "cow.h"
#include "kernel/swap.h"
#include "process/map.h"

#define ACTORS		4u
#define STEPS		24u
#define MAX_PAGES	(2 * MOST_PMD_PAGES)

enum op { CHECK, WRITE, WRITE_ONE, DROP, ADVISE_OUT, FORK, LEAVE, KILL, REAP };

static struct {
	enum op op;
	unsigned int arg;
	const struct mask *mask;
	uint64_t value;
	pid_t pid[ACTORS];	/* 0: no such process */
	pid_t parent[ACTORS];
	bool killed[ACTORS];
} *shared;

static struct { int down[2], up[2]; } pipes[ACTORS];

/* What this process has to find: private, so each fork takes it along. */
static uint64_t want[MAX_PAGES];
static bool dropped[MAX_PAGES];
static char *area;
static size_t area_pages;
static unsigned long area_kib;

static void check(void)
{
	size_t n;

	for (n = 0; n < area_pages; n++) {
		EXPECT(cow_word(area, n) == want[n],
		       "page %zu has %#llx, not %#llx", n,
		       (unsigned long long)cow_word(area, n),
		       (unsigned long long)want[n]);
		if (!dropped[n] && n % 5 == shared->value % 5)
			cow_expect_rest(area, n);
	}
}

static void write_page(size_t n)
{
	cow_mark(area, n, shared->value + n);
	want[n] = shared->value + n;
}

static void drop_page(size_t n)
{
	range_advise(page_at(area, n), 1, MADV_DONTNEED);
	want[n] = 0;
	dropped[n] = true;
}

static void act(unsigned int self);

static void fork_actor(unsigned int as)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	if (!pid)
		act(as);
	shared->pid[as] = pid;
	shared->parent[as] = getpid();
	shared->killed[as] = false;
}

static void reap(unsigned int actor)
{
	int status;

	if (waitpid(shared->pid[actor], &status, 0) < 0)
		die_errno("process %u cannot be waited for", actor);
	EXPECT(status == (shared->killed[actor] ? SIGKILL : 0),
	       "process %u ended with wait status %#x", actor, status);
}

static void do_op(void)
{
	size_t n;

	switch (shared->op) {
	case WRITE:
		for (n = 0; n < area_pages; n++) {
			if (masked(shared->mask, n, area_kib))
				write_page(n);
		}
		break;
	case WRITE_ONE:
		write_page(shared->arg % area_pages);
		break;
	case DROP:
		drop_page(shared->arg % area_pages);
		break;
	case ADVISE_OUT:
		page_out(area, area_pages * PAGE_SIZE);
		break;
	case FORK:
		fork_actor(shared->arg);
		break;
	case REAP:
		reap(shared->arg);
		break;
	default:
		break;
	}
	check();
}

/* The life of a process other than the first. */
static void act(unsigned int self)
{
	bool leaves = false;
	char word;

	while (!leaves) {
		if (read(pipes[self].down[0], &word, 1) != 1)
			_exit(STATUS_FAILED);
		leaves = shared->op == LEAVE;
		do_op();
		if (write(pipes[self].up[1], "", 1) != 1)
			_exit(STATUS_FAILED);
	}
	_exit(STATUS_OK);
}

static void tell(unsigned int actor, enum op op, unsigned int arg)
{
	char word;

	shared->op = op;
	shared->arg = arg;
	if (!actor) {
		do_op();
		return;
	}
	if (write(pipes[actor].down[1], "", 1) != 1 ||
	    read(pipes[actor].up[0], &word, 1) != 1)
		die_errno("process %u does not answer", actor);
}

static bool alive(unsigned int actor)
{
	return !actor || shared->pid[actor];
}

/* Its parent waits for it, or if that is gone, the first process. */
static void bury(unsigned int actor)
{
	unsigned int by = 1;

	while (by < ACTORS && shared->pid[by] != shared->parent[actor])
		by++;
	if (by < ACTORS)
		tell(by, REAP, actor);
	else
		reap(actor);
	shared->pid[actor] = 0;
}

static void step(uint32_t *random, bool swapping)
{
	static const enum op ops[] = {
		WRITE, WRITE, WRITE_ONE, WRITE_ONE, WRITE_ONE, DROP,
		ADVISE_OUT, FORK, FORK, LEAVE, KILL,
	};
	unsigned int actor = random_below(random, ACTORS), i;
	enum op op = ops[random_below(random, ARRAY_SIZE(ops))];

	shared->mask = &masks[random_below(random, NR_MASKS)];
	shared->value += MAX_PAGES;
	if (op == ADVISE_OUT && !swapping)
		op = WRITE;
	if (op == FORK && alive(actor))
		return;
	if (op == FORK) {
		i = random_below(random, ACTORS);
		tell(alive(i) ? i : 0, FORK, actor);
		return;
	}
	if (!alive(actor) || (!actor && op >= LEAVE))
		return;
	if (op == KILL) {
		shared->killed[actor] = true;
		kill(shared->pid[actor], SIGKILL);
		bury(actor);
		return;
	}
	tell(actor, op, random_below(random, MAX_PAGES));
	if (op == LEAVE)
		bury(actor);
}

static void start(unsigned long kib, bool by_pte)
{
	size_t n;

	area_kib = kib;
	area_pages = range_pages(kib);
	area = range_of(kib, by_pte);
	for (n = 0; n < area_pages; n++) {
		want[n] = cow_word(area, n);
		dropped[n] = false;
	}
}

static void run_orders(unsigned long kib, unsigned int rounds, bool swapping)
{
	uint32_t random = 1234 + kib + swapping;
	unsigned int i, j, a;

	shared = map_or_die(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < ACTORS; i++) {
		if (pipe(pipes[i].down) || pipe(pipes[i].up))
			die_errno("pipe");
	}
	/* Orphans become children of this process. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die_errno("PR_SET_CHILD_SUBREAPER");
	for (i = 0; i < rounds; i++) {
		start(kib, i % 2);
		for (j = 0; j < STEPS; j++) {
			step(&random, swapping);
			for (a = 0; a < ACTORS; a++) {
				if (alive(a))
					tell(a, CHECK, 0);
			}
		}
		for (a = ACTORS - 1; a > 0; a--) {
			if (!alive(a))
				continue;
			tell(a, LEAVE, 0);
			bury(a);
		}
		range_drop(area, area_pages);
	}
}

static unsigned int rounds(unsigned long kib)
{
	return folio_pages(kib) > 64 ? 4 : 24;
}

QUIRE_CASE_FULL(cow, orders, 120000u, KTAP_SIZES(ALL_SIZES))
{
	run_orders(kib, rounds(kib), false);
}

QUIRE_CASE_FULL(cow, orders_swapping, 120000u, KTAP_SIZES(ALL_SIZES))
{
	swap_on(SWAP_FOR_TESTS);
	run_orders(kib, rounds(kib), true);
}
