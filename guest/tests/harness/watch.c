// SPDX-License-Identifier: GPL-2.0
/*
 * Does watch() report what a program printed and how it ended, also when it
 * crashes, hangs or leaves a child that keeps the pipe open?
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/child.h"
#include "process/map.h"
#include "process/watch.h"
#include "report/capture.h"
#include "run/ktap.h"

#define REPORT_MAX	4096
#define LIMIT_MS	2000u

/* Runs watch() and copies what it reports to text. */
static int watched(void (*run)(const void *arg), unsigned int ms, char *text)
{
	struct capture capture = capture_begin();
	int status = watch(run, NULL, ms);

	capture_end(&capture, text, REPORT_MAX);
	return status;
}

static void expect_watched(void (*run)(const void *arg), unsigned int ms,
			   int status, const char *report)
{
	char text[REPORT_MAX];

	EXPECT_EQ(watched(run, ms, text), status);
	EXPECT(!strcmp(text, report), "reported: %s", text);
}

static void prints(const void *arg __attribute__((unused)))
{
	printf("ok 1 a\n1 of 2\r2 of 2\n\nno newline");
	fflush(stdout);
	_exit(STATUS_SKIP);
}

static void crashes(const void *arg __attribute__((unused)))
{
	puts("so far");
	fflush(stdout);
	*(volatile char *)map_or_die(NULL, PAGE_SIZE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

static void hangs(const void *arg __attribute__((unused)))
{
	printf("this far");
	fflush(stdout);
	sleep_ms(600000);
}

static void leaves_a_child(const void *arg __attribute__((unused)))
{
	if (!fork_child())
		sleep_ms(600000);
	puts("done");
}

QUIRE_CASE(selftest, watch_tells_lines_and_status)
{
	expect_watched(prints, LIMIT_MS, STATUS_SKIP,
		       "# ok 1 a\n# 2 of 2\n# \n# no newline\n");
}

QUIRE_CASE(selftest, watch_tells_a_crash)
{
	expect_watched(crashes, LIMIT_MS, STATUS_FAILED,
		       "# so far\n"
		       "  # killed by signal 11 (Segmentation fault)\n");
}

QUIRE_CASE(selftest, watch_ends_a_hang_and_keeps_what_it_said)
{
	expect_watched(hangs, 300, STATUS_FAILED,
		       "# this far\n  # not done in 300 ms\n");
}

QUIRE_CASE_CALL(selftest, watch_does_not_wait_for_a_child_left_behind,
		expect_watched(leaves_a_child, LIMIT_MS, STATUS_OK, "# done\n"))
