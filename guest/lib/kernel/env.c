// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "process/map.h"
#include "process/others.h"
#include "report/die.h"

#define KHUGEPAGED	"/sys/kernel/mm/transparent_hugepage/khugepaged"
#define NEVER_MS	"3600000"
#define SETTLE_MS	500u

#define TICK_MARGIN_NS	300000l	/* until the tick and the wake-up are over */
#define NS_PER_S	1000000000l

void env_quiesce(void)
{
	/*
	 * khugepaged must not collapse the bench's memory, and must not wake
	 * up.
	 */
	write_file(KHUGEPAGED "/scan_sleep_millisecs", NEVER_MS);
	write_file(KHUGEPAGED "/alloc_sleep_millisecs", NEVER_MS);
	write_file(KHUGEPAGED "/pages_to_scan", "1");
	write_file(KHUGEPAGED "/max_ptes_none", "0");
	/* A kernel for one CPU has nothing to gather. */
	try_write_file("/proc/sys/vm/stat_interval", "3600");
	write_file("/sys/kernel/mm/ksm/run", "0");
	folio_want(PAGE_KIB);
	folio_want_shmem(PAGE_KIB);
	sleep_ms(SETTLE_MS);
}

/* What cases change, and its value before the first of them. */
static struct {
	const char *path;
	char value[32];
} knobs[] = {
	{ .path = "/sys/kernel/mm/lru_gen/enabled" },
	{ .path = "/proc/sys/vm/dirty_writeback_centisecs" },
	{ .path = "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ .path = KHUGEPAGED "/pages_to_scan" },
	{ .path = KHUGEPAGED "/scan_sleep_millisecs" },
};

/* "always [madvise] never" is a list with the value in brackets. */
static ssize_t read_knob(const char *path, char *value, size_t size)
{
	ssize_t len = read_file(path, value, size);
	char *from, *to;

	if (len <= 0)
		return len;
	from = strchr(value, '[');
	to = strchr(value, ']');
	if (from && to > from) {
		len = to - from - 1;
		memmove(value, from + 1, len);
		value[len] = 0;
	}
	return len;
}

static void reset_knobs(void)
{
	char now[sizeof(knobs[0].value)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++) {
		if (read_knob(knobs[i].path, now, sizeof(now)) <= 0)
			continue;
		if (!knobs[i].value[0])
			memcpy(knobs[i].value, now, sizeof(now));
		else if (strcmp(now, knobs[i].value))
			write_file(knobs[i].path, "%s", knobs[i].value);
	}
}

void env_reset(void)
{
	reset_knobs();
	swap_reset();
	folio_want(PAGE_KIB);
	folio_want_shmem(PAGE_KIB);
	if (ksm_sysfs("pages_shared"))
		write_file("/sys/kernel/mm/ksm/run", "2");
	write_file("/sys/kernel/mm/ksm/run", "0");
}

static long clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		die_errno("cannot read clock %d", (int)clock);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/*
 * The coarse clock advances at each tick by a whole number of periods. Its
 * value is therefore the time of a tick.
 */
void env_after_tick(void)
{
	struct timespec res, until;
	long now, tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &res))
		die_errno("cannot read the tick period");
	tick = clock_ns(CLOCK_MONOTONIC_COARSE);
	now = clock_ns(CLOCK_MONOTONIC);
	while (tick <= now)
		tick += res.tv_nsec;
	tick += TICK_MARGIN_NS;
	until.tv_sec = tick / NS_PER_S;
	until.tv_nsec = tick % NS_PER_S;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
	others_catch_up();
}

/*
 * MADV_COLD drains the batches before it looks for pages. This mapping has none,
 * and after mlockall() it must not be locked.
 */
void env_drain_lru(void)
{
	char *page = map_anon(NULL, PAGE_SIZE);

	if (munlock(page, PAGE_SIZE) || madvise(page, PAGE_SIZE, MADV_COLD))
		die_errno("MADV_COLD");
	unmap(page, PAGE_SIZE);
}

unsigned long env_taint(void)
{
	return read_number("/proc/sys/kernel/tainted");
}
