// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef QUIRE_TIME
#define QUIRE_TIME	/* for static analysis, which knows no flags of make's */
#endif
#include "quire.h"
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
} events[NR_COUNTERS] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "dtlb-load-misses", PERF_TYPE_HW_CACHE, DTLB_MISSES },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
};

static struct time_sample *current;
static int fds[NR_COUNTERS];
static uint64_t started;

const char *clock_counter_name(unsigned int nr)
{
	return events[nr].name;
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
	for (i = 0; i < NR_COUNTERS; i++) {
		fds[i] = open_counter(i);
		sample->counter[i].err = fds[i] < 0 ? errno : 0;
	}
	current = sample;
}

void clock_finish(void)
{
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++) {
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

	for (i = 0; i < NR_COUNTERS; i++)
		if (fds[i] >= 0)
			ioctl(fds[i], request, 0);
}

/* The clock is read last here and first at the end: counters cost no time. */
void quire_time_start(void)
{
	if (!current)
		return;
	switch_counters(PERF_EVENT_IOC_ENABLE);
	started = now_ns();
}

void quire_time_stop(void)
{
	uint64_t stopped = now_ns();

	if (!current)
		return;
	switch_counters(PERF_EVENT_IOC_DISABLE);
	current->ns += stopped - started;
	current->rounds++;
}
