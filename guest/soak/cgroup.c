// SPDX-License-Identifier: GPL-2.0
/* The memory cgroup of all workers, whose limit is too small for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "proc/knob.h"
#include "report/die.h"
#include "soak.h"
#include "system.h"

#define ROOT	"/sys/fs/cgroup"

static const char *path_of(const char *file, char *path)
{
	sprintf(path, CGROUP "/%.40s", file);
	return path;
}

void cgroup_make(unsigned long limit_kib)
{
	char path[100];

	write_file(ROOT "/cgroup.subtree_control", "+memory");
	if (mkdir(CGROUP, 0755))
		die_errno("cannot make " CGROUP);
	write_file(path_of("memory.max", path), "%luK", limit_kib);
}

void cgroup_enter(void)
{
	char path[100];

	write_file(path_of("cgroup.procs", path), "0");
}

void cgroup_reclaim(const char *amount)
{
	char path[100];

	/* EAGAIN when it reclaimed less than that: no error here. */
	if (!try_write_file(path_of("memory.reclaim", path), amount) &&
	    errno != EAGAIN && errno != EINTR)
		violation(NULL, -1, "memory.reclaim: %s", strerror(errno));
}

unsigned long cgroup_number(const char *file)
{
	char path[100];

	return read_number(path_of(file, path));
}

/* The last process may still be in it. */
void cgroup_remove(void)
{
	unsigned int tries;

	for (tries = 0; tries < 100; tries++) {
		if (!rmdir(CGROUP))
			return;
		sleep_ms(20);
	}
	die_errno("cannot remove " CGROUP);
}
