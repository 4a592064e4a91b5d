// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef QUIRE_TIME
#define QUIRE_TIME	/* for static analysis, which knows no flags of make's */
#endif
#include "quire.h"
#include "proc/knob.h"
#include "time/clock.h"

#define NS_PER_S	1000000000ull
#define CACHE(cache, op, result)	((cache) | (op) << 8 | (result) << 16)
#define DTLB_MISSES	CACHE(PERF_COUNT_HW_CACHE_DTLB,			\
			      PERF_COUNT_HW_CACHE_OP_READ,		\
			      PERF_COUNT_HW_CACHE_RESULT_MISS)

static const struct {
	const char *name;
	unsigned int type;
	uint64_t config;
} events[NR_EVENTS] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "dtlb-load-misses", PERF_TYPE_HW_CACHE, DTLB_MISSES },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
};

/*
 * User-mode Linux: nanoseconds in system calls, in page faults, and in bringing
 * the host's mappings in step with the page tables, of all processes.
 */
static const struct {
	const char *name, *path;
} files[NR_COUNTERS - NR_EVENTS] = {
	[COUNTER_SYSCALL - NR_EVENTS] = { "um-syscall-ns",
					  "/sys/kernel/debug/um/syscall_ns" },
	[COUNTER_FAULT - NR_EVENTS] = { "um-fault-ns",
					"/sys/kernel/debug/um/fault_ns" },
	[COUNTER_SYNC - NR_EVENTS] = { "um-sync-ns",
				       "/sys/kernel/debug/um/sync_ns" },
};

static struct time_sample *current;
static int fds[NR_EVENTS];
static uint64_t started, values[NR_COUNTERS];

const char *clock_counter_name(unsigned int nr)
{
	return nr < NR_EVENTS ? events[nr].name : files[nr - NR_EVENTS].name;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int open_counter(unsigned int nr)
{
	struct perf_event_attr attr = {
		.type = events[nr].type,
		.size = sizeof(attr),
		.config = events[nr].config,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

void clock_use(struct time_sample *sample)
{
	unsigned int i;

	*sample = (struct time_sample){};
	for (i = 0; i < NR_EVENTS; i++) {
		fds[i] = open_counter(i);
		sample->counter[i].err = fds[i] < 0 ? errno : 0;
	}
	for (; i < NR_COUNTERS; i++) {
		bool here = !access(files[i - NR_EVENTS].path, R_OK);

		sample->counter[i].err = here ? 0 : NOT_HERE;
	}
	current = sample;
}

void clock_finish(void)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++) {
		uint64_t *value = &current->counter[i].value;

		if (fds[i] < 0)
			continue;
		if (read(fds[i], value, sizeof(*value)) != sizeof(*value))
			current->counter[i].err = EIO;
		close(fds[i]);
	}
}

static void switch_counters(unsigned long request)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++)
		if (fds[i] >= 0)
			ioctl(fds[i], request, 0);
}

static void read_files(uint64_t value[NR_COUNTERS])
{
	unsigned int i;

	for (i = NR_EVENTS; i < NR_COUNTERS; i++)
		if (!current->counter[i].err)
			value[i] = read_number(files[i - NR_EVENTS].path);
}

/*
 * Reading the files is in what they count: once between the last reading before
 * the region and the one after it, as between two readings in a row.
 */
static void start_files(void)
{
	uint64_t first[NR_COUNTERS] = {};
	unsigned int i;

	read_files(first);
	read_files(values);
	for (i = NR_EVENTS; i < NR_COUNTERS; i++)
		values[i] += values[i] - first[i];
}

static void stop_files(void)
{
	uint64_t last[NR_COUNTERS] = {};
	unsigned int i;

	read_files(last);
	for (i = NR_EVENTS; i < NR_COUNTERS; i++)
		if (last[i] > values[i])
			current->counter[i].value += last[i] - values[i];
}

/* The clock is read last here and first at the end: counters cost no time. */
void quire_time_start(void)
{
	if (!current)
		return;
	start_files();
	switch_counters(PERF_EVENT_IOC_ENABLE);
	started = now_ns();
}

void quire_time_stop(void)
{
	uint64_t stopped = now_ns();

	if (!current)
		return;
	switch_counters(PERF_EVENT_IOC_DISABLE);
	stop_files();
	current->ns += stopped - started;
	current->rounds++;
}
