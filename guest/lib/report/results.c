// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "report/results.h"

#define PORT_NAME	"quire"
#define PORT_CLASS	"/sys/class/virtio-ports"
#define PORT_WAIT_MS	2000u

static int port = -1;
static bool exited;

/* Finds the device node of the port with our name: e.g. "vport0p1". */
static bool find_port(char *node, size_t size)
{
	DIR *dir = opendir(PORT_CLASS);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		char path[300], name[32];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), PORT_CLASS "/%s/name",
			 entry->d_name);
		if (read_file(path, name, sizeof(name)) < 0)
			continue;
		name[strcspn(name, "\n")] = '\0';
		snprintf(node, size, "/dev/%.200s", entry->d_name);
		found = !strcmp(name, PORT_NAME);
	}
	closedir(dir);
	return found;
}

/* QEMU names its ports by messages that may arrive after init has started. */
static int open_port(void)
{
	char node[256];
	unsigned int waited;
	int fd;

	for (waited = 0; waited < PORT_WAIT_MS; waited += 20) {
		if (find_port(node, sizeof(node))) {
			fd = open(node, O_RDWR);
			if (fd >= 0)
				return fd;
		}
		sleep_ms(20);
	}
	return -1;
}

/* quire_results=ttyS0 on the command line: a machine without virtio ports. */
static int open_line(const char *name)
{
	struct termios settings;
	char node[64];
	int fd;

	snprintf(node, sizeof(node), "/dev/%s", name);
	fd = open(node, O_RDWR | O_NOCTTY);
	if (fd >= 0 && !tcgetattr(fd, &settings)) {
		cfmakeraw(&settings);
		tcsetattr(fd, TCSANOW, &settings);
	}
	return fd;
}

void results_open(void)
{
	const char *line = getenv("quire_results");

	port = line ? open_line(line) : open_port();
	if (port < 0)
		port = dup(STDOUT_FILENO);
	results_line("quire 1");
}

void results_redirect(int fd)
{
	port = fd;
}

int results_fd(void)
{
	return port;
}

static void write_all(int fd, const char *text, size_t len)
{
	ssize_t done;

	while (len) {
		done = write(fd, text, len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;	/* there is no other channel for an error */
		text += done;
		len -= done;
	}
}

void results_vline(const char *prefix, const char *fmt, va_list ap)
{
	char line[512];
	size_t len;
	int n;

	n = snprintf(line, sizeof(line), "%s", prefix);
	n += vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	len = (size_t)n < sizeof(line) - 1 ? (size_t)n : sizeof(line) - 2;
	line[len] = '\n';
	write_all(port < 0 ? STDERR_FILENO : port, line, len + 1);
}

void results_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline("", fmt, ap);
	va_end(ap);
}

void result_region(unsigned int id, const char *name)
{
	results_line("region %u %s", id, name);
}

void result_pages(unsigned int id, unsigned long pages)
{
	results_line("pages %u %lu", id, pages);
}

void result_ops(unsigned int id, unsigned long ops)
{
	results_line("ops %u %lu", id, ops);
}

void result_counter(const char *name, unsigned long before, unsigned long after)
{
	results_line("counter %s %lu %lu", name, before, after);
}

void result_folios(unsigned long ok, unsigned long total)
{
	results_line("folios %lu %lu", ok, total);
}

void result_verify_ok(void)
{
	results_line("verify ok");
}

void result_verify_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline("verify fail ", fmt, ap);
	va_end(ap);
}

void result_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline("note ", fmt, ap);
	va_end(ap);
}

void result_exit(int status)
{
	if (exited)
		return;
	exited = true;
	results_line("exit %d", status);
	/* The port passes buffers to QEMU asynchronously. Give it time. */
	sleep_ms(50);
}
