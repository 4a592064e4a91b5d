// SPDX-License-Identifier: GPL-2.0
/*
 * Actors: the processes of a program. Only one runs at a time, in its turn, and
 * writes its lines into the arena.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "fuzz.h"
#include "memory/probe.h"
#include "ops.h"
#include "report/die.h"

#define GONE_MS		2000u

/* What an actor writes at the end has tags above those of operations. */
#define TAG_LAST	200u

static const struct program *program;
static struct actor me;

void actors_open(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die_errno("cannot become a reaper");
	turns_open();
}

static void inject(bool on)
{
	char text[16];

	if (!me.fail_nth)
		return;
	snprintf(text, sizeof(text), "%u", on ? me.fail_nth : 0);
	try_write_file("/proc/thread-self/fail-nth", text);
	if (!on)
		me.fail_nth = 0;
}

static void say_cost(bool begun)
{
	if (begun)
		say("c %u\n", cost_last());
}

/*
 * An operation between two checks of its pages, with no other process running
 * in between. The second check shows stale TLB entries.
 */
static void perform_warm(const struct op *op)
{
	unsigned int before, after;
	struct outcome_text outcome;
	bool begun;

	cost_settle();
	before = content_hash(op->slot, op->page, op->count);
	begun = cost_begin();
	outcome = op->verb->act(&me, op);
	cost_end(begun);
	after = content_hash(op->slot, op->page, op->count);
	say("o %u %s before=%08x after=%08x\n", op->index, outcome.text,
	    before, after);
	say_cost(begun);
}

static void perform(const struct op *op)
{
	bool warm = me.warm && op->count && !op->verb->ages;
	bool faulty = me.fail_nth;
	struct outcome_text outcome;
	bool begun;

	if (op->count)
		me.warm = false;
	if (warm) {
		perform_warm(op);
		return;
	}
	cost_settle();
	inject(true);
	begun = cost_begin();
	outcome = op->verb->act(&me, op);
	cost_end(begun);
	if (faulty)
		inject(false);
	say("o %u %s\n", op->index, outcome.text);
	say_cost(begun);
}

/* Of each page of a slot, whether an access to it fails because nothing is mapped. */
static bool is_void[SLOT_PAGES];

/* The pages from `first` on that can be probed at once. Returns the next page. */
static unsigned int probe_voids(unsigned int slot, unsigned int first,
				unsigned int end)
{
	unsigned int page, nr = 0, done = 0;

	for (page = first; page < end && nr < MAX_CALLS; page++) {
		if (!is_mapped(slot, page))
			arena->call[nr++] =
				content_probe(page_addr(slot, page));
	}
	calls_make(arena->call, nr);
	for (end = page, page = first; page < end; page++)
		is_void[page] = !is_mapped(slot, page) &&
				content_is_void(&arena->call[done++]);
	return end;
}

static void find_voids(unsigned int slot)
{
	struct extent extent = program->extent[slot];

	while (extent.first < extent.end)
		extent.first = probe_voids(slot, extent.first, extent.end);
}

/* Touches the mapped pages of a slot. */
static void touch_mapped(unsigned int slot, bool writes)
{
	struct extent extent = program->extent[slot];
	unsigned int page, end;

	for (page = extent.first; page < extent.end; page = end + 1) {
		for (end = page; end < extent.end && is_mapped(slot, end);)
			end++;
		content_touch(page_addr(slot, page), end - page, writes);
	}
}

/* At the end every page is accessed, mapped or not. */
static struct outcome_text read_all(void)
{
	unsigned int slot, page, refused = 0;

	for (slot = 0; slot < MAX_SLOTS; slot++) {
		const struct extent *extent = &program->extent[slot];

		find_voids(slot);
		touch_mapped(slot, false);
		for (page = extent->first; page < extent->end; page++)
			refused += is_void[page] ||
				   content_read(page_addr(slot, page)).kind ==
				   UNREADABLE;
	}
	return outcome_fmt("refused=%u", refused);
}

static struct outcome_text write_all(void)
{
	unsigned int slot, page, ok = 0, segv = 0, bus = 0;

	for (slot = 0; slot < MAX_SLOTS; slot++) {
		const struct extent *extent = &program->extent[slot];

		find_voids(slot);
		touch_mapped(slot, true);
		for (page = extent->first; page < extent->end; page++) {
			int sig = is_void[page] ? SIGSEGV :
				  content_write(slot, page, TAG_LAST + me.id);

			ok += !sig;
			segv += sig == SIGSEGV;
			bus += sig == SIGBUS;
		}
	}
	return outcome_fmt("ok=%u segv=%u bus=%u", ok, segv, bus);
}

/* The reads or the writes at the end. */
static void finish(char kind, struct outcome_text (*all)(void))
{
	struct outcome_text outcome;
	bool begun;

	cost_settle();
	begun = cost_begin();
	outcome = all();
	cost_end(begun);
	say("%c %u %s\n", kind, me.id, outcome.text);
	say_cost(begun);
}

/* The turn of an actor. */
static void take_step(void)
{
	const struct turn *turn = &arena->turn;

	if (turn->actor == me.id) {
		if (turn->step < program->nr_ops)
			perform(&program->op[turn->step]);
		else if (turn->step == step_read_all(program))
			finish('r', read_all);
		else
			finish('w', write_all);
	}
	if (step_shows(program, turn->step))
		observe(&me, program);
}

/* The first actor is forked into the memory cgroup. */
static pid_t fork_into(int cgroup)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

void actors_begin(const struct program *next)
{
	pid_t pid;

	program = next;
	pid = fork_into(system_cgroup());
	if (pid < 0)
		die_errno("cannot fork into the cgroup");
	if (!pid) {
		setpgid(0, 0);
		signal(SIGCHLD, SIG_IGN);
		probe_init();
		/*
		 * Only the program's memory may use swap slots, because each
		 * process that shares a page takes a reference to its slot.
		 * Children do not inherit this, but share what they have not
		 * written to.
		 */
		if (mlockall(MCL_CURRENT | MCL_ONFAULT))
			die_errno("mlockall");
		me = (struct actor){ .id = 0, .uffd = -1, .tracker = -1 };
		turns_take(program, me.id, take_step);
	}
	setpgid(pid, pid);
	arena->pid[0] = pid;
}

struct outcome_text verb_fork(struct actor *self, const struct op *op)
{
	pid_t pid = fork();

	if (pid < 0)
		return outcome_of(false);
	if (!pid) {
		/* A child has none of its parent's references to pages. */
		drop_holds(self);
		forget_pin();
		forget_crowd();
		proc_forget();
		*self = (struct actor){
			.id = op->number, .uffd = -1, .tracker = -1,
		};
		turns_take(program, me.id, take_step);
	}
	arena->pid[op->number] = pid;
	return outcome_ok();
}

/* Waits until its memory is freed. An actor does not wait for its children. */
static bool wait_gone(pid_t pid)
{
	unsigned int ms;

	for (ms = 0; ms < GONE_MS; ms++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (kill(pid, 0) && errno == ESRCH)
			return true;
		sleep_ms(1);
	}
	return false;
}

bool actor_exit(unsigned int id)
{
	pid_t pid = arena->pid[id];
	bool gone;

	arena->turn.actor = id;
	arena->pid[id] = 0;
	arena->keepers &= ~(1u << id);
	gone = turn_wake(id) && wait_gone(pid);
	arena->turn.actor = NOBODY;
	return gone;
}

void actors_end(void)
{
	unsigned int i, ms;

	for (i = 0; i < MAX_ACTORS; i++) {
		if (arena->pid[i])
			kill(arena->pid[i], SIGKILL);
		arena->pid[i] = 0;
	}
	for (ms = 0; ms < GONE_MS; ms++) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			break;
		sleep_ms(1);
	}
	turns_drain();
}
