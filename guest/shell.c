// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "process/child.h"
#include "process/rootfs.h"
#include "report/die.h"
#include "report/results.h"
#include "shell.h"

#define MAX_WORDS 32

typedef int run_fn(size_t nr, char *const *words);

static void cat(const char *path)
{
	char buf[4096];
	ssize_t len;
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		perror(path);
		return;
	}
	while ((len = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, len, stdout);
	if (len < 0)
		perror(path);
	close(fd);
}

static void list_dir(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir) {
		perror(path);
		return;
	}
	while ((entry = readdir(dir)))
		printf("%s%s\n", entry->d_name,
		       entry->d_type == DT_DIR ? "/" : "");
	closedir(dir);
}

static void help(void)
{
	printf("bench WORKLOAD [key=value ...]  run a workload\n"
	       "test PATTERN ...                run test cases\n"
	       "program bench PATH [key=value]  run a workload of your own\n"
	       "program test PATH [argument]    run a test of your own\n"
	       "list                            workloads and test cases\n"
	       "cat FILE ...                    show files\n"
	       "ls [DIR]                        show a directory\n"
	       "write FILE TEXT                 write a line, e.g. to sysfs\n"
	       "poweroff                        end this guest\n");
}

/* A bench or a test may die; the shell must not. */
static void run_forked(run_fn *run, size_t nr, char *const *words)
{
	pid_t pid = fork_child();
	int status;

	if (!pid)
		exit(run(nr, words));
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("killed by signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		printf("status %d\n", WEXITSTATUS(status));
}

static void run_line(run_fn *run, size_t nr, char *const *words)
{
	size_t i;

	if (!strcmp(words[0], "help")) {
		help();
	} else if (!strcmp(words[0], "cat")) {
		for (i = 1; i < nr; i++)
			cat(words[i]);
	} else if (!strcmp(words[0], "ls")) {
		list_dir(nr > 1 ? words[1] : "/");
	} else if (!strcmp(words[0], "write") && nr == 3) {
		if (!try_write_file(words[1], words[2]))
			perror(words[1]);
	} else if (!strcmp(words[0], "bench") || !strcmp(words[0], "test") ||
		   !strcmp(words[0], "program") || !strcmp(words[0], "list")) {
		run_forked(run, nr, words);
	} else {
		printf("unknown: %s; \"help\" lists the commands\n", words[0]);
	}
}

static size_t split(char *line, char **words)
{
	size_t nr = 0;
	char *word;

	for (word = strtok(line, " \t\r\n"); word && nr < MAX_WORDS;
	     word = strtok(NULL, " \t\r\n"))
		words[nr++] = word;
	return nr;
}

/* The userland's own shell, with this console as its terminal. */
static void become_bash(void)
{
	setsid();
	ioctl(STDIN_FILENO, TIOCSCTTY, 1);
	execl("/bin/bash", "bash", "--login", NULL);
	die_errno("cannot execute /bin/bash");
}

int shell_main(run_fn *run)
{
	char line[1024], *words[MAX_WORDS];
	size_t nr;

	if (rootfs_here())
		become_bash();
	/* The person at the console reads the report of a bench or test. */
	results_redirect(STDOUT_FILENO);
	printf("Quire guest. \"help\" lists the commands.\n");
	for (;;) {
		printf("quire> ");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			break;
		nr = split(line, words);
		if (!nr)
			continue;
		if (!strcmp(words[0], "poweroff"))
			break;
		run_line(run, nr, words);
		fflush(stdout);
	}
	return STATUS_OK;
}
