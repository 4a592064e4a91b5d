// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that carry out orders. All pipes exist before the first fork, so
 * that the case can talk to a worker that another worker has forked.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker.h"
#include "process/child.h"

#define MAX_WORKERS	10
#define ANSWER_MS	4000

struct order {
	act *what;	/* NULL: end */
	char *addr;
	long arg;
};

struct worker {
	struct worker *parent;	/* NULL: the case */
	pid_t pid;
	bool ended;
	int orders[2];
	int answers[2];
};

static struct worker workers[MAX_WORKERS];
static unsigned int hired;

void workers_open(void)
{
	size_t i;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die_errno("PR_SET_CHILD_SUBREAPER");
	for (i = 0; i < MAX_WORKERS; i++) {
		if (pipe2(workers[i].orders, O_CLOEXEC) ||
		    pipe2(workers[i].answers, O_CLOEXEC))
			die_errno("cannot make pipes for the workers");
	}
}

static bool get(int fd, void *data, size_t len)
{
	ssize_t got;

	do {
		got = read(fd, data, len);
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)len;
}

static void put(int fd, const void *data, size_t len)
{
	if (write(fd, data, len) != (ssize_t)len)
		die_errno("cannot write to a worker's pipe");
}

static void __attribute__((noreturn)) serve(struct worker *self)
{
	struct order order;
	long result;

	while (get(self->orders[0], &order, sizeof(order)) && order.what) {
		result = order.what(order.addr, order.arg);
		put(self->answers[1], &result, sizeof(result));
	}
	exit(STATUS_OK);
}

/* An act itself, so that a worker can be the parent. */
static long fork_worker(char *addr __attribute__((unused)), long nr)
{
	pid_t pid = fork_child();

	if (!pid)
		serve(&workers[nr]);
	return pid;
}

/* So is this, for its parent. */
static long wait_worker(char *addr __attribute__((unused)), long pid)
{
	int status;

	if (!wait_within(pid, &status, ANSWER_MS))
		die("process %ld does not end", pid);
	if (status)
		die("process %ld ended with wait status %#x", pid, status);
	return 0;
}

struct worker *worker_fork(struct worker *parent)
{
	struct worker *who = &workers[hired];

	if (hired == MAX_WORKERS)
		die("more than %d workers: raise MAX_WORKERS", MAX_WORKERS);
	who->parent = parent;
	who->pid = worker_do(parent, fork_worker, NULL, hired++);
	return who;
}

pid_t worker_pid(const struct worker *who)
{
	return who ? who->pid : 0;
}

long worker_do(struct worker *who, act *what, char *addr, long arg)
{
	struct order order = { what, addr, arg };
	struct pollfd answer;
	long result;

	if (!who)
		return what(addr, arg);
	put(who->orders[1], &order, sizeof(order));
	answer = (struct pollfd){ .fd = who->answers[0], .events = POLLIN };
	while (poll(&answer, 1, ANSWER_MS) < 0 && errno == EINTR)
		;
	if (!(answer.revents & POLLIN))
		die("process %d does not answer", (int)who->pid);
	if (!get(who->answers[0], &result, sizeof(result)))
		die_errno("cannot read the answer of process %d",
			  (int)who->pid);
	return result;
}

void worker_end(struct worker *who)
{
	struct order end = { NULL, NULL, 0 };

	put(who->orders[1], &end, sizeof(end));
	/* Orphans are ours. */
	worker_do(who->parent && !who->parent->ended ? who->parent : NULL,
		  wait_worker, NULL, who->pid);
	who->ended = true;
}
