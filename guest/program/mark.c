// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/units.h"
#include "program/mark.h"
#include "run/bench.h"
#include "report/die.h"

/* What the counters were when the region began; lines of name and value. */
#define BEFORE		"/tmp/quire-start"
#define MAX_TEXT	32768
#define NS_PER_S	1000000000ull

/* Under user-mode Linux: nanoseconds in the kernel, of all processes. */
static const struct {
	const char *name;
	const char *path;
} files[] = {
	{ "um-syscall-ns", "/sys/kernel/debug/um/syscall_ns" },
	{ "um-fault-ns", "/sys/kernel/debug/um/fault_ns" },
	{ "um-sync-ns", "/sys/kernel/debug/um/sync_ns" },
};

static unsigned long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* All counters but the time, in the format of /proc/vmstat. */
static void read_all(char *text, size_t size)
{
	ssize_t len = read_file("/proc/vmstat", text, size);
	char value[32];
	size_t i;

	if (len < 0)
		die_errno("cannot read /proc/vmstat");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (read_file(files[i].path, value, sizeof(value)) <= 0)
			continue;
		len += snprintf(text + len, size - len, "%s %lu\n",
				files[i].name, strtoul(value, NULL, 10));
	}
}

int mark_start(void)
{
	static char text[MAX_TEXT];
	FILE *file = fopen(BEFORE, "we");

	if (!file)
		die_errno("cannot write " BEFORE);
	bench_arm();
	read_all(text, sizeof(text));
	/* The time is last, so that reading the rest costs none. */
	fprintf(file, "%stime-ns %lu\n", text, now_ns());
	if (fclose(file))
		die_errno("cannot write " BEFORE);
	quire_start();
	return STATUS_OK;
}

/* The value of a name in lines of names and values, or 0. */
static unsigned long value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text && (strncmp(text, name, len) || text[len] != ' ')) {
		text = strchr(text, '\n');
		text += !!text;
	}
	return text ? strtoul(text + len, NULL, 10) : 0;
}

int mark_stop(void)
{
	static char before[MAX_TEXT], after[MAX_TEXT];
	unsigned long now, then;
	char *save, *line, *end;

	quire_stop();
	now = now_ns();
	bench_disarm();
	if (read_file(BEFORE, before, sizeof(before)) < 0)
		die_usage("stop without start");
	quire_counter("time-ns", value_of(before, "time-ns"), now);
	read_all(after, sizeof(after));
	for (line = strtok_r(after, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		end = strchr(line, ' ');
		if (!end)
			continue;
		*end = '\0';
		now = strtoul(end + 1, NULL, 10);
		then = value_of(before, line);
		if (now != then)
			quire_counter(line, then, now);
	}
	return STATUS_OK;
}
