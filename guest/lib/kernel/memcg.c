// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "kernel/memcg.h"
#include "proc/knob.h"
#include "report/die.h"

#define ROOT	"/sys/fs/cgroup"
#define PREFIX	"quire-"
/* More than any test has; memory.reclaim ends when it finds no more. */
#define ALL	"16G"

static char group[sizeof(ROOT "/" PREFIX) + 12];
static pid_t owner;

/* Removes the cgroups of processes that were killed. */
static void remove_stale(void)
{
	DIR *dir = opendir(ROOT);
	struct dirent *entry;
	char path[400];

	if (!dir)
		die_errno("cannot open " ROOT);
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		snprintf(path, sizeof(path), ROOT "/%s", entry->d_name);
		rmdir(path);
	}
	closedir(dir);
}

static const char *file_of(const char *name)
{
	static char path[sizeof(group) + 32];

	if (!owner)
		die("%s: memcg_enter() was not called", name);
	snprintf(path, sizeof(path), "%s/%s", group, name);
	return path;
}

/* A forked child calls this at exit(), too. */
static void leave(void)
{
	if (getpid() != owner)
		return;
	if (try_write_file(ROOT "/cgroup.procs", "0"))
		rmdir(group);
}

void memcg_enter(void)
{
	if (owner)
		return;
	remove_stale();
	write_file(ROOT "/cgroup.subtree_control", "+memory");
	snprintf(group, sizeof(group), ROOT "/" PREFIX "%d", (int)getpid());
	if (mkdir(group, 0755))
		die_errno("cannot make the cgroup %s", group);
	owner = getpid();
	atexit(leave);
	write_file(file_of("cgroup.procs"), "0");
}

const char *memcg_path(void)
{
	if (!owner)
		die("memcg_path: memcg_enter() was not called");
	return group + strlen(ROOT);
}

int memcg_open_reclaim(void)
{
	const char *path = file_of("memory.reclaim");
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open %s", path);
	return fd;
}

/* Returns 0 or an errno. */
static int ask(const char *amount)
{
	int fd = memcg_open_reclaim();
	int err;

	err = write(fd, amount, strlen(amount)) < 0 ? errno : 0;
	close(fd);
	return err;
}

void memcg_reclaim(void)
{
	/* There is never as much as ALL, so this ends with EAGAIN. */
	errno = ask(ALL);
	if (errno != EAGAIN)
		die_errno("memory.reclaim did not end with EAGAIN");
}

void memcg_reclaim_kib(unsigned long kib)
{
	char amount[32];

	snprintf(amount, sizeof(amount), "%luK", kib);
	errno = ask(amount);
	if (errno && errno != EAGAIN)
		die_errno("memory.reclaim of %s", amount);
}

void memcg_limit_kib(unsigned long kib)
{
	unsigned long current = memcg_current_kib();

	if (kib > current)
		die("a limit %lu KiB below %lu KiB", kib, current);
	write_file(file_of("memory.high"), "%luK", current - kib);
	write_file(file_of("memory.high"), "max");
}

unsigned long memcg_current_kib(void)
{
	return read_number(file_of("memory.current")) / KIB;
}

unsigned long memcg_swap_kib(void)
{
	return read_number(file_of("memory.swap.current")) / KIB;
}

unsigned long memcg_stat(const char *field)
{
	FILE *f = fopen(file_of("memory.stat"), "re");
	unsigned long value, found = 0;
	bool any = false;
	char name[64];

	if (!f)
		die_errno("cannot open %s", file_of("memory.stat"));
	while (fscanf(f, "%63s %lu", name, &value) == 2) {
		if (strcmp(name, field))
			continue;
		found = value;
		any = true;
	}
	fclose(f);
	if (!any)
		die("%s has no field \"%s\"", file_of("memory.stat"), field);
	return found;
}
