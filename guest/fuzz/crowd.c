// SPDX-License-Identifier: GPL-2.0
/*
 * A crowd: children of an actor that only share its memory. Many of them make
 * the reference counts large.
 */
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "ops.h"

#define CROWD_MAX 100u

static pid_t crowd[CROWD_MAX];
static unsigned int nr_crowd;

void forget_crowd(void)
{
	nr_crowd = 0;
}

/* How they ended does not matter. Waits until all have exited. */
void end_crowd(void)
{
	while (nr_crowd) {
		kill(crowd[--nr_crowd], SIGKILL);
		waitpid(crowd[nr_crowd], NULL, 0);
	}
}

static void stand_by(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* One table of files: what the actor closes, no child keeps open. */
static pid_t fork_sharing_files(void)
{
	struct clone_args args = {
		.flags = CLONE_FILES,
		.exit_signal = SIGCHLD,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

struct outcome_text verb_crowd(struct actor *self __attribute__((unused)),
			       const struct op *op)
{
	pid_t parent = getpid();

	if (op->number > CROWD_MAX)
		return outcome_fmt("EINVAL");
	end_crowd();
	while (nr_crowd < op->number) {
		pid_t pid = fork_sharing_files();

		if (pid < 0)
			return outcome_of(false);
		if (!pid)
			stand_by(parent);
		crowd[nr_crowd++] = pid;
	}
	return outcome_ok();
}
