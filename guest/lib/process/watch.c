// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/child.h"
#include "process/watch.h"
#include "report/die.h"
#include "report/results.h"

#define LINE_LEN	480	/* the most that results_line() takes */
/* The delay in noticing its end if a child of it keeps the pipe open. */
#define LOOK_MS		100

struct output {
	watch_line *line;
	void *to;
	char text[LINE_LEN + 1];	/* the last line, as read so far */
	size_t len;
};

static void put_line(struct output *output)
{
	output->text[output->len] = '\0';
	output->line(output->to, output->text);
	output->len = 0;
}

/* As on a terminal, a carriage return starts the line again. */
static void take(struct output *output, const char *text, size_t len)
{
	for (; len--; text++) {
		if (*text == '\n')
			put_line(output);
		else if (*text == '\r')
			output->len = 0;
		else if (output->len < LINE_LEN)
			output->text[output->len++] = *text;
	}
}

/* Reads all there is now. Returns false once the pipe has no writer. */
static bool take_all(struct output *output, int fd)
{
	char text[4096];
	ssize_t len;

	while ((len = read(fd, text, sizeof(text))) > 0)
		take(output, text, len);
	return len < 0;
}

static void begin(int out)
{
	int in = open("/dev/null", O_RDONLY);

	if (in < 0)
		die_errno("cannot open /dev/null");
	setpgid(0, 0);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
}

/* Waits for its end; false if it has not ended within ms. */
static bool wait_for(pid_t pid, int *status, struct output *output, int fd,
		     unsigned int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	long end = now_ms() + ms;

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (now_ms() >= end)
			return false;
		poll(&poll_fd, 1, LOOK_MS);
		if (poll_fd.fd >= 0 && !take_all(output, fd))
			poll_fd.fd = -1;	/* poll() ignores it */
	}
	return true;
}

static int judge(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	diag("killed by signal %d (%s)", WTERMSIG(status),
	     strsignal(WTERMSIG(status)));
	return STATUS_FAILED;
}

int watch_lines(void (*run)(const void *arg), const void *arg, unsigned int ms,
		watch_line *line, void *to)
{
	struct output output = { .line = line, .to = to };
	int fds[2], status;
	bool ended;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) || fcntl(fds[0], F_SETFL, O_NONBLOCK))
		die_errno("cannot make a pipe");
	pid = fork_child();
	if (!pid) {
		begin(fds[1]);
		run(arg);
		exit(STATUS_OK);
	}
	close(fds[1]);
	ended = wait_for(pid, &status, &output, fds[0], ms);
	kill(-pid, SIGKILL);
	take_all(&output, fds[0]);
	if (output.len)
		put_line(&output);
	if (ended)
		return judge(status);
	diag("not done in %u ms", ms);
	return STATUS_FAILED;
}

static void put_diagnostic(void *to __attribute__((unused)), const char *text)
{
	results_line("# %s", text);
}

int watch(void (*run)(const void *arg), const void *arg, unsigned int ms)
{
	return watch_lines(run, arg, ms, put_diagnostic, NULL);
}
