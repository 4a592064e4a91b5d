// SPDX-License-Identifier: GPL-2.0
/*
 * A user's workload. Its lines from include/quire.h become lines of the bench
 * protocol; all other lines are notes.
 *
 * Its output goes to a file that is read after it has ended. A process that
 * reads it earlier would run in the measured region.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "process/child.h"
#include "process/rootfs.h"
#include "program.h"
#include "report/die.h"
#include "report/results.h"
#include "run/bench.h"
#include "run/supervise.h"

#define MAX_ARGS	64
#define OURS		"quire: "

static struct {
	bool work;	/* it reported how much it did */
	bool failed;
} said;

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void fail(const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	result_verify_fail("%s", text);
	said.failed = true;
}

/* A line of quire.h; false if it is none. */
static bool take_ours(const char *text)
{
	unsigned long first, second;
	char name[64];
	int end = -1;

	if (sscanf(text, "pages %lu%n", &first, &end) == 1 && !text[end]) {
		result_pages(REGION, first);
		said.work = true;
	} else if (sscanf(text, "ops %lu%n", &first, &end) == 1 && !text[end]) {
		result_ops(REGION, first);
		said.work = true;
	} else if (sscanf(text, "counter %63s %lu %lu%n", name, &first, &second,
			  &end) == 3 && !text[end]) {
		result_counter(name, first, second);
	} else if (!strncmp(text, "fail ", strlen("fail "))) {
		fail("%s", text + strlen("fail "));
	} else {
		return false;
	}
	return true;
}

static void take_line(const char *text)
{
	if (strncmp(text, OURS, strlen(OURS)))
		result_note("%s", text);
	else if (!take_ours(text + strlen(OURS)))
		fail("the program's line \"%s\" is none of quire.h", text);
}

static void take_output(int fd)
{
	FILE *output = fdopen(fd, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (!output || fseek(output, 0, SEEK_SET))
		die_errno("cannot read what the program printed");
	while ((len = getline(&line, &size, output)) >= 0) {
		line[len - (len && line[len - 1] == '\n')] = '\0';
		take_line(line);
	}
	free(line);
	fclose(output);
}

static void __attribute__((noreturn)) become(char *const *argv, int output)
{
	int in = open("/dev/null", O_RDONLY);

	if (in < 0)
		die_errno("cannot open /dev/null");
	setpgid(0, 0);
	dup2(in, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execv(argv[0], argv);
	die_errno("cannot execute %s", argv[0]);
}

/* Waits until it ends, and reports how. */
static void run(char *const *argv, int output)
{
	unsigned int ms = patience(PROGRAM_LIMIT_MS);
	pid_t pid = fork_child();
	bool ended;
	int status;

	if (!pid)
		become(argv, output);
	ended = wait_within(pid, &status, ms);
	kill(-pid, SIGKILL);
	if (!ended)
		fail("the program was not done in %u ms", ms);
	else if (WIFSIGNALED(status))
		fail("the program was killed by signal %d (%s)",
		     WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		fail("the program ended with status %d", WEXITSTATUS(status));
}

/* "key=NUMBER"; or `other`, if it is another word. */
static unsigned long number(const char *word, const char *key,
			    unsigned long other)
{
	size_t len = strlen(key);
	unsigned long value;
	char *end;

	if (strncmp(word, key, len) || word[len] != '=')
		return other;
	value = strtoul(word + len + 1, &end, 10);
	if (!value || *end)
		die_usage("program bench: %s is no number", word);
	return value;
}

static void set_up(size_t nr, char *const *words)
{
	unsigned long kib = PAGE_KIB, swap_mib = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!strchr(words[i], '='))
			die_usage("program bench: \"%s\" is not key=value",
				  words[i]);
		kib = number(words[i], "size", kib);
		swap_mib = number(words[i], "swap", swap_mib);
	}
	if (!folio_size_valid(kib))
		die_usage("program bench: %lu KiB is no folio size: %zu, %zu, "
			  "%zu, ... %zu", kib, PAGE_KIB, 4 * PAGE_KIB,
			  8 * PAGE_KIB, PMD_KIB);
	env_reset();
	if (swap_mib)
		swap_on(swap_mib);
	folio_want(kib);
}

int program_bench(size_t nr, char *const *words)
{
	char *argv[MAX_ARGS + 1] = { NULL };
	unsigned long taint = env_taint();
	int output;

	if (nr > MAX_ARGS)
		die_usage("program bench: more than %d words", MAX_ARGS);
	memcpy(argv, words, nr * sizeof(*words));
	program_check(words[0]);
	set_up(nr - 1, words + 1);
	output = memfd_create("output", MFD_CLOEXEC);
	if (output < 0)
		die_errno("cannot make a file for the program's output");
	result_region(REGION, program_name(words[0]));
	/* In a userland, the program arms the plugin when it is set up. */
	if (!rootfs_here())
		bench_arm();
	run(argv, output);
	if (!rootfs_here())
		bench_disarm();
	take_output(output);
	if (!said.work) {
		result_note("%s told neither pages nor ops (quire_pages(), "
			    "quire_ops()): it counts as one operation",
			    program_name(words[0]));
		result_ops(REGION, 1);
	}
	taint = env_taint() & ~taint;
	if (taint)
		fail("the program tainted the kernel: %#lx", taint);
	if (said.failed)
		return STATUS_FAILED;
	result_verify_ok();
	return STATUS_OK;
}
