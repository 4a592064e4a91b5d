// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

void wait_child(pid_t pid, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			die_errno("cannot wait for %s", what);
	}
	if (WIFSIGNALED(status))
		die("%s was killed by signal %d (%s)", what, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		die("%s ended with status %d", what, WEXITSTATUS(status));
}
