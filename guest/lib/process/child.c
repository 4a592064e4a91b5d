// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/child.h"
#include "report/die.h"

pid_t fork_child(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die_errno("cannot fork");
	return pid;
}

/* Returns false if there is no such child. */
static bool wait_for(pid_t pid, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	if (WIFSIGNALED(status))
		die("%s was killed by signal %d (%s)", what, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		die("%s ended with status %d", what, WEXITSTATUS(status));
	return true;
}

void wait_child(pid_t pid, const char *what)
{
	if (!wait_for(pid, what))
		die_errno("cannot wait for %s", what);
}

void wait_children(const char *what)
{
	while (wait_for(-1, what))
		;
}

bool wait_within(pid_t pid, int *status, unsigned int ms)
{
	long left, end = now_ms() + ms;
	sigset_t chld, before;
	bool ended;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &before);
	while (!(ended = waitpid(pid, status, WNOHANG) == pid)) {
		struct timespec wait;

		left = end - now_ms();
		if (left <= 0)
			break;
		wait.tv_sec = left / 1000;
		wait.tv_nsec = left % 1000 * 1000000;
		sigtimedwait(&chld, NULL, &wait);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ended;
}
