// SPDX-License-Identifier: GPL-2.0
/*
 * Turns. The steps of a program are its operations, then the reads and writes
 * at the end. One process does a step: an actor, or main for those that no
 * actor can do. Then all actors observe their memory, one after the other.
 *
 * Only one process runs; each of the others waits at its own pipe. A turn
 * passes from actor to actor without main in between. But an actor that comes
 * after itself goes through main: each switch of processes flushes the emulated
 * TLB, and the accessed bits must not depend on the TLB's contents.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/die.h"

/* Virtual time; an actor that waits uses none of the host's. */
#define PATIENCE_MS	1000

/* Main's is behind those of the actors. */
static int pipes[MAX_ACTORS + 1][2];

void turns_open(void)
{
	unsigned int i;

	for (i = 0; i <= MAX_ACTORS; i++) {
		if (pipe(pipes[i]))
			die_errno("cannot make a pipe");
	}
}

bool turn_wake(unsigned int who)
{
	return write(pipes[who][1], "", 1) == 1;
}

static bool wait_for_turn(unsigned int who)
{
	char byte;

	return read(pipes[who][0], &byte, 1) == 1;
}

/* Wakes the next one, and waits for the next turn. */
static bool pass_turn(unsigned int next, unsigned int self)
{
	char byte = 0;
	struct call call[] = {
		call_of(__NR_write, pipes[next][1], (uintptr_t)&byte, 1, 0),
		call_of(__NR_read, pipes[self][0], (uintptr_t)&byte, 1, 0),
	};

	calls_make(call, ARRAY_SIZE(call));
	return call[0].result == 1 && call[1].result == 1;
}

/* The first live actor from `id` on, or NOBODY. */
static unsigned int alive_from(unsigned int id)
{
	while (id < MAX_ACTORS && !actor_alive(id))
		id++;
	return id;
}

/* Which process does an operation: main does those that an actor cannot. */
static unsigned int doer(const struct op *op)
{
	if (op->verb->global || !actor_alive(op->actor) ||
	    !strcmp(op->verb->name, "exit"))
		return NOBODY;
	if (!strcmp(op->verb->name, "fork") && actor_alive(op->number))
		return NOBODY;
	return op->actor;
}

static void next_step(const struct program *program, struct turn *turn)
{
	/* Every actor does the steps at the end. */
	if (turn->step >= program->nr_ops) {
		turn->actor = alive_from(turn->actor + 1);
		if (turn->actor != NOBODY)
			return;
	}
	turn->step++;
	if (turn->step < program->nr_ops)
		turn->actor = doer(&program->op[turn->step]);
	else
		turn->actor = turn->step <= step_write_all(program) ?
			      alive_from(0) : NOBODY;
}

bool step_shows(const struct program *program, unsigned int step)
{
	return step >= program->nr_ops || !program->op[step].verb->setting;
}

/* Which process comes after `self`, to observe or to do the next step. */
static unsigned int next_turn(const struct program *program, unsigned int self)
{
	struct turn *turn = &arena->turn;
	unsigned int next = alive_from(self == turn->actor ? 0 : self + 1);

	if (next != NOBODY && next == turn->actor)
		next = alive_from(next + 1);
	if (next != NOBODY && turn->step != step_read_all(program) &&
	    step_shows(program, turn->step))
		return next;
	next_step(program, turn);
	return turn->actor;
}

void turns_take(const struct program *program, unsigned int self,
		void (*step)(void))
{
	bool mine = wait_for_turn(self);

	while (mine) {
		unsigned int next;

		step();
		arena->done = arena->len;
		arena->steps++;
		next = next_turn(program, self);
		mine = pass_turn(next == self ? NOBODY : next, self);
	}
	_exit(STATUS_FAILED);
}

/* Returns false when no process has made progress for too long. */
static bool come_back(void)
{
	struct pollfd back = { .fd = pipes[NOBODY][0], .events = POLLIN };
	unsigned int steps;
	int n;

	do {
		steps = arena->steps;
		n = poll(&back, 1, PATIENCE_MS);
	} while (n < 0 ? errno == EINTR : !n && arena->steps != steps);
	return n > 0 && wait_for_turn(NOBODY);
}

/* Waits until main has something to do. */
static bool let_go(unsigned int next)
{
	while (next != NOBODY) {
		if (!turn_wake(next) || !come_back())
			return false;
		next = arena->turn.actor;
	}
	return true;
}

bool turns_begin(const struct program *program)
{
	arena->turn = (struct turn){ .actor = doer(&program->op[0]) };
	return let_go(arena->turn.actor);
}

bool turns_go_on(const struct program *program)
{
	return let_go(next_turn(program, NOBODY));
}

/* Turns that a lost actor did not read, or answered too late. */
void turns_drain(void)
{
	char rest[64];
	unsigned int i;

	for (i = 0; i <= MAX_ACTORS; i++) {
		struct pollfd left = { .fd = pipes[i][0], .events = POLLIN };

		while (poll(&left, 1, 0) > 0 &&
		       read(left.fd, rest, sizeof(rest)) > 0)
			;
	}
}
