// SPDX-License-Identifier: GPL-2.0
/*
 * Several system calls in one, where the kernel offers that: the lab's patch for
 * UML, where each switch between the kernel and a process costs some ten
 * microseconds. Elsewhere each call is made by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/die.h"

#define AT_ONCE		"/sys/kernel/debug/um/calls"
#define CALLS_IOCTL(nr)	_IOC(_IOC_READ | _IOC_WRITE, 'U', 0, \
			     (nr) * sizeof(struct call))

_Static_assert(MAX_CALLS * sizeof(struct call) < 1u << _IOC_SIZEBITS,
	       "the command has no room for the size of the array");

static int at_once = -1;

void calls_open(void)
{
	at_once = open(AT_ONCE, O_RDWR | O_CLOEXEC);
	if (at_once < 0 && errno != ENOENT)
		die_errno("cannot open " AT_ONCE);
}

bool calls_cost_less(void)
{
	return at_once >= 0;
}

static void call_alone(struct call *call)
{
	long result = syscall(call->nr, call->arg[0], call->arg[1],
			      call->arg[2], call->arg[3]);

	call->result = result < 0 ? -errno : result;
}

void calls_make(struct call *call, unsigned int nr)
{
	int done;

	for (; nr; call += done, nr -= done) {
		done = 1;
		if (at_once < 0)
			call_alone(call);
		else
			done = ioctl(at_once, CALLS_IOCTL(nr), call);
		if (done <= 0)
			die_errno("cannot make system calls");
	}
}
