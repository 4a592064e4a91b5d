// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results.h"
#include "util.h"

static const char *prefix = "note ";

void diag_prefix(const char *new_prefix)
{
	prefix = new_prefix;
}

void diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline(prefix, fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline(prefix, fmt, ap);
	va_end(ap);
	exit(STATUS_FAILED);
}

void die_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline(prefix, fmt, ap);
	va_end(ap);
	exit(STATUS_USAGE);
}

void die_errno(const char *fmt, ...)
{
	int err = errno;
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("%s: %s", text, strerror(err));
}

static bool write_whole(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t done;
	int err;

	if (fd < 0)
		return false;
	done = write(fd, text, len);
	err = errno;
	close(fd);
	errno = done < 0 ? err : EIO;
	return done == (ssize_t)len;
}

void write_file(const char *path, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(text))
		die("text for %s is too long", path);
	if (!write_whole(path, text))
		die_errno("cannot write \"%s\" to %s", text, path);
}

bool try_write_file(const char *path, const char *text)
{
	return write_whole(path, text);
}

ssize_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while (len < size - 1) {
		got = read(fd, buf + len, size - 1 - len);
		if (got <= 0)
			break;
		len += got;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}

unsigned long read_number(const char *path)
{
	unsigned long value;
	char text[64];
	char *end;

	if (read_file(path, text, sizeof(text)) < 0)
		die_errno("cannot read %s", path);
	value = strtoul(text, &end, 10);
	if (end == text)
		die("%s holds no number but \"%s\"", path, text);
	return value;
}

void *map_or_die(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = mmap(at, len, prot, flags, fd, off);

	if (p == MAP_FAILED)
		die_errno("cannot map %zu KiB at %p", len / KIB, at);
	if (at && p != at)
		die("mapped at %p instead of %p", p, at);
	return p;
}

void *map_anon(void *at, size_t len)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (at)
		flags |= MAP_FIXED_NOREPLACE;
	return map_or_die(at, len, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void unmap(void *addr, size_t len)
{
	if (munmap(addr, len))
		die_errno("cannot unmap %zu KiB at %p", len / KIB, addr);
}

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

void sleep_ms(unsigned int ms)
{
	struct timespec left = { ms / 1000, (ms % 1000) * 1000000l };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
