// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of the guest. It mounts the file systems, runs the words of the
 * kernel command line (those after "--") in a child, writes the exit line and
 * resets the machine, whatever happens to the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "command.h"
#include "kernel/env.h"
#include "process/child.h"
#include "process/rootfs.h"
#include "report/die.h"
#include "report/results.h"
#include "run/marker.h"

#define MAX_WORDS 64

static const struct {
	const char *type;
	const char *dir;
} mounts[] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "devtmpfs", "/dev" },
	{ "debugfs", "/sys/kernel/debug" },
	{ "cgroup2", "/sys/fs/cgroup" },
	{ "tmpfs", "/tmp" },
};

static void mount_all(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		mkdir(mounts[i].dir, 0755);
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0,
			  NULL) && errno != EBUSY)
			die_errno("cannot mount %s on %s", mounts[i].type,
				  mounts[i].dir);
	}
}

/* Without /dev/console in the initramfs, the kernel has opened no console. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR);

	if (fd < 0)
		return;	/* results may still go to their port */
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/*
 * quire_count=on on the command line: the plugin counts all that runs, as one
 * region.
 */
static bool counts;

static void count_all(void)
{
	counts = getenv("quire_count");
	if (!counts)
		return;
	quire_arm();
	sleep_ms(20);	/* the plugin may take a moment to start */
	quire_start();
}

/* Writes the verdict first, whatever the reason for exit(). */
static void finish(int status, void *unused __attribute__((unused)))
{
	if (getpid() != 1)
		return;
	if (counts)
		quire_stop();
	result_exit(status);
	rootfs_leave();
	reboot(RB_AUTOBOOT);
}

/* Runs the words after the program's name in a process of their own. */
static int run_words(size_t nr, char *const *words)
{
	int status;
	pid_t pid, ended;

	pid = fork_child();
	if (!pid)
		exit(command_run(nr, words));
	do {
		ended = waitpid(-1, &status, 0);	/* reaps orphans, too */
	} while (ended != pid && (ended > 0 || errno == EINTR));
	if (ended != pid)
		die_errno("lost the process of \"%s\"", words[0]);
	if (WIFSIGNALED(status)) {
		result_note("\"%s\" was killed by signal %d (%s)", words[0],
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
		return STATUS_FAILED;
	}
	return WEXITSTATUS(status);
}

/*
 * The words after "--". Not argv: it also contains options that the kernel does
 * not know ("nokaslr" on a kernel without KASLR), and nothing marks where ours
 * begin.
 */
static size_t command_line(char **words, size_t max)
{
	static char line[4096];
	size_t nr = 0;
	char *word;
	bool ours = false;

	if (read_file("/proc/cmdline", line, sizeof(line)) < 0)
		die_errno("cannot read /proc/cmdline");
	for (word = strtok(line, " \n"); word && nr < max;
	     word = strtok(NULL, " \n")) {
		if (ours)
			words[nr++] = word;
		ours |= !strcmp(word, "--");
	}
	return nr;
}

int main(int argc, char **argv)
{
	char *words[MAX_WORDS];
	size_t nr;

	if (getpid() != 1) {
		units_read();
		return ordinary_main(argc - 1, argv + 1);
	}
	on_exit(finish, NULL);
	rootfs_enter();
	mount_all();
	units_read();
	open_console();
	results_open();
	env_quiesce();
	nr = command_line(words, ARRAY_SIZE(words));
	if (!nr)
		die_usage("init needs words after \"--\" on the kernel command "
			  "line: " COMMAND_WORDS);
	count_all();
	exit(run_words(nr, words));
}
