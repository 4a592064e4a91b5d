// SPDX-License-Identifier: GPL-2.0
/*
 * Actors: processes that take orders over a pipe each, and answer over another.
 * Only one of them runs at any time. What it has to say is in the arena when
 * its answer comes; an operation's outcome is the first line.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "ops.h"
#include "probe.h"

/* Virtual time; an actor that waits for nothing costs none of the host's. */
#define PATIENCE_MS	4000
#define GONE_MS		2000u

/* Orders; others are the index of an operation. */
enum { OBSERVE = -1, READ_ALL = -2, WRITE_ALL = -3 };

/* What an actor writes at the end has tags above those of operations. */
#define TAG_LAST	200u

struct line {
	int order[2];
	int answer[2];
	pid_t pid;	/* of the actor; 0: none */
};

static struct line lines[MAX_ACTORS];
static const struct program *program;
static struct actor me;

void actors_open(void)
{
	unsigned int i;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die_errno("cannot become a reaper");
	for (i = 0; i < MAX_ACTORS; i++) {
		if (pipe(lines[i].order) || pipe(lines[i].answer))
			die_errno("cannot make a pipe");
	}
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

/*
 * An operation between two looks at its pages, with no other process running
 * meanwhile: the second shows what the TLB still knows.
 */
static void perform_warm(const struct op *op)
{
	unsigned int before, after;
	struct outcome_text outcome;

	me.warm = false;
	before = content_hash(op->slot, op->page, op->count);
	outcome = op->verb->act(&me, op);
	after = content_hash(op->slot, op->page, op->count);
	say("o %u %s before=%08x after=%08x\n", op->index, outcome.text,
	    before, after);
}

static void perform(const struct op *op)
{
	bool faulty = me.fail_nth;
	struct outcome_text outcome;

	if (me.warm && op->count) {
		perform_warm(op);
		return;
	}
	inject(true);
	outcome = op->verb->act(&me, op);
	if (faulty)
		inject(false);
	say("o %u %s\n", op->index, outcome.text);
}

static struct outcome_text write_all(void)
{
	unsigned int slot, page, ok = 0, segv = 0, bus = 0;

	for (slot = 0; slot < MAX_SLOTS; slot++) {
		const struct extent *extent = &program->extent[slot];

		for (page = extent->first; page < extent->end; page++) {
			int sig = content_write(slot, page, TAG_LAST + me.id);

			ok += !sig;
			segv += sig == SIGSEGV;
			bus += sig == SIGBUS;
		}
	}
	return outcome_fmt("ok=%u segv=%u bus=%u", ok, segv, bus);
}

static void obey(int order)
{
	if (order >= 0)
		perform(&program->op[order]);
	else if (order == READ_ALL)
		say("r %u %s\n", me.id, touch_all(program).text);
	else if (order == WRITE_ALL)
		say("w %u %s\n", me.id, write_all().text);
	observe(&me, program);
}

static void serve(void)
{
	struct line *line = &lines[me.id];
	int order;

	while (read(line->order[0], &order, sizeof(order)) == sizeof(order)) {
		obey(order);
		if (write(line->answer[1], &order, sizeof(order)) !=
		    sizeof(order))
			break;
	}
	_exit(STATUS_FAILED);
}

/* The first actor is born into the memory cgroup. */
static pid_t fork_into(int cgroup)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

bool actors_begin(const struct program *next)
{
	struct line *line = &lines[0];

	program = next;
	line->pid = fork_into(system_cgroup());
	if (line->pid < 0)
		die_errno("cannot fork into the cgroup");
	if (!line->pid) {
		setpgid(0, 0);
		signal(SIGCHLD, SIG_IGN);
		probe_init();
		me = (struct actor){ .id = 0, .uffd = -1 };
		serve();
	}
	setpgid(line->pid, line->pid);
	return true;
}

struct outcome_text do_fork(struct actor *self, const struct op *op)
{
	pid_t pid = fork();

	if (pid < 0)
		return outcome_of(false);
	if (!pid) {
		/* Pages held by the parent are not held by the child. */
		drop_holds(self);
		*self = (struct actor){ .id = op->number, .uffd = -1 };
		serve();
	}
	/* main learns it from there: it has a table of its own. */
	arena->forked = pid;
	return outcome_ok();
}

/* The answer comes, or the actor is lost. */
static bool order(unsigned int id, int what)
{
	struct line *line = &lines[id];
	struct pollfd answer = { .fd = line->answer[0], .events = POLLIN };
	int got;

	arena->len = 0;
	arena->text[0] = '\0';
	if (write(line->order[1], &what, sizeof(what)) != sizeof(what))
		return false;
	for (;;) {
		int n = poll(&answer, 1, PATIENCE_MS);

		if (n < 0 && errno == EINTR)
			continue;
		return n > 0 &&
		       read(answer.fd, &got, sizeof(got)) == sizeof(got) &&
		       got == what;
	}
}

/* Until its memory is gone. Parents among actors do not wait for children. */
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

/* An order to exit has no answer. */
static bool actor_exit(const struct op *op)
{
	struct line *line = &lines[op->actor];
	int what = op->index;
	pid_t pid = line->pid;

	if (write(line->order[1], &what, sizeof(what)) != sizeof(what))
		return false;
	line->pid = 0;
	arena->len = 0;
	say("o %u ok\n", op->index);
	return wait_gone(pid);
}

static bool actor_fork(const struct op *op)
{
	arena->len = 0;
	if (op->number >= MAX_ACTORS || lines[op->number].pid) {
		say("o %u EEXIST\n", op->index);
		return true;
	}
	arena->forked = 0;
	if (!order(op->actor, op->index))
		return false;
	lines[op->number].pid = arena->forked;
	return true;
}

bool actor_do(const struct op *op)
{
	if (!lines[op->actor].pid) {
		arena->len = 0;
		say("o %u ESRCH\n", op->index);
		return true;
	}
	if (!strcmp(op->verb->name, "exit"))
		return actor_exit(op);
	if (!strcmp(op->verb->name, "fork"))
		return actor_fork(op);
	return order(op->actor, op->index);
}

bool actor_observe(unsigned int id)
{
	return order(id, OBSERVE);
}

bool actor_read_all(unsigned int id)
{
	return order(id, READ_ALL);
}

bool actor_write_all(unsigned int id)
{
	return order(id, WRITE_ALL);
}

bool actor_alive(unsigned int id)
{
	return lines[id].pid;
}

/* What an actor that was lost has not read, or has answered too late. */
static void drain(struct line *line)
{
	char rest[64];
	int i, fd[2] = { line->order[0], line->answer[0] };

	for (i = 0; i < 2; i++) {
		struct pollfd left = { .fd = fd[i], .events = POLLIN };

		while (poll(&left, 1, 0) > 0 &&
		       read(fd[i], rest, sizeof(rest)) > 0)
			;
	}
}

void actors_end(void)
{
	unsigned int i, ms;

	for (i = 0; i < MAX_ACTORS; i++) {
		if (lines[i].pid)
			kill(lines[i].pid, SIGKILL);
		lines[i].pid = 0;
	}
	for (ms = 0; ms < GONE_MS; ms++) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			break;
		sleep_ms(1);
	}
	for (i = 0; i < MAX_ACTORS; i++)
		drain(&lines[i]);
}
