// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the harness. Each case runs a hidden case through the harness and
 * reads the report. A case that fails, crashes or hangs must be reported as
 * "not ok"; otherwise no other test can be trusted.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "process/child.h"
#include "process/map.h"
#include "report/capture.h"
#include "run/ktap.h"

#define REPORT_MAX 8192
#define AUX_TAINT (1ul << 16)	/* for distributions: the kernel sets none */

/*
 * Runs one hidden case and copies its report to text. Returns the run's status.
 */
static int run_hidden(const char *name, char *text)
{
	char *patterns[] = { (char *)name };
	struct capture capture = capture_begin();
	int status;

	unsetenv("quire_shard");
	status = ktap_run(patterns, 1);
	capture_end(&capture, text, REPORT_MAX);
	return status;
}

static void expect_report(const char *name, int status, const char *line,
			  const char *diagnostic)
{
	char text[REPORT_MAX];

	EXPECT_EQ(run_hidden(name, text), status);
	EXPECT(strstr(text, line), "no \"%s\" in the report of %s: %s", line,
	       name, text);
	EXPECT(strstr(text, diagnostic), "no \"%s\" in the report of %s: %s",
	       diagnostic, name, text);
}

#define REPORT_CASE(name_, hidden_, status_, line_, diagnostic_)	\
	QUIRE_CASE(selftest, name_)					\
	{								\
		expect_report(hidden_, status_, line_, diagnostic_);	\
	}

QUIRE_CASE_HIDDEN(selftest, passes, 2000)
{
	EXPECT_EQ(1 + 1, 2);
}

QUIRE_CASE_HIDDEN(selftest, fails, 2000)
{
	EXPECT(false, "this is expected to fail");
}

QUIRE_CASE_HIDDEN(selftest, fails_in_child, 2000)
{
	pid_t pid = fork_child();

	if (!pid) {
		EXPECT_EQ(1, 2);
		_exit(STATUS_OK);	/* the tally must still count it */
	}
	wait_child(pid, "the child");
}

QUIRE_CASE_HIDDEN(selftest, fails_often, 2000)
{
	int i;

	for (i = 0; i < 20; i++)
		EXPECT(false, "failure number %d", i);
}

QUIRE_CASE_HIDDEN(selftest, dies, 2000)
{
	die("gone");
}

QUIRE_CASE_HIDDEN(selftest, crashes, 2000)
{
	*(volatile char *)map_or_die(NULL, PAGE_SIZE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

QUIRE_CASE_HIDDEN(selftest, sleeps, 50)
{
	sleep_ms(60000);
}

QUIRE_CASE_HIDDEN(selftest, spins, 50)
{
	signal(SIGTERM, SIG_IGN);
	for (;;)
		*(volatile int *)&(int){ 0 } = 1;
}

QUIRE_CASE_HIDDEN(selftest, leaves_a_child, 2000)
{
	pid_t pid = fork_child();

	if (!pid)
		sleep_ms(60000);
	diag("left %d", (int)pid);
	EXPECT(pid, "this is the child");
}

QUIRE_CASE_HIDDEN(selftest, checks_nothing, 2000)
{
	map_anon(NULL, PAGE_SIZE);
}

QUIRE_CASE_HIDDEN(selftest, skips, 2000)
{
	SKIP("no such thing here");
}

QUIRE_CASE_HIDDEN(selftest, taints, 2000)
{
	write_file("/proc/sys/kernel/tainted", "%lu", AUX_TAINT);
}

REPORT_CASE(reports_a_pass, "selftest.passes", STATUS_OK,
	    "\n  ok 1 passes\n", "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n")

QUIRE_CASE(selftest, reports_a_failed_expectation)
{
	expect_report("selftest.fails", STATUS_FAILED, "\n  not ok 1 fails\n",
		      "this is expected to fail");
	expect_report("selftest.fails", STATUS_FAILED, "\nnot ok 1 selftest\n",
		      "  # ");
}

REPORT_CASE(reports_a_failure_in_a_child, "selftest.fails_in_child", STATUS_FAILED,
	    "\n  not ok 1 fails_in_child\n", "1 is 1")
REPORT_CASE(counts_failures_it_does_not_print, "selftest.fails_often", STATUS_FAILED,
	    "\n  not ok 1 fails_often\n", "4 more failures")
REPORT_CASE(reports_a_case_that_dies, "selftest.dies", STATUS_FAILED,
	    "\n  not ok 1 dies\n", "# gone")
REPORT_CASE(reports_a_crash, "selftest.crashes", STATUS_FAILED,
	    "\n  not ok 1 crashes\n", "killed by signal 11")
REPORT_CASE(ends_a_case_that_sleeps, "selftest.sleeps", STATUS_FAILED,
	    "\n  not ok 1 sleeps # TIMEOUT 50 ms\n", "")
REPORT_CASE(ends_a_case_that_spins, "selftest.spins", STATUS_FAILED,
	    "\n  not ok 1 spins # TIMEOUT 50 ms\n", "")

QUIRE_CASE(selftest, kills_what_a_case_left_behind)
{
	char text[REPORT_MAX], *left;
	int pid = 0;

	EXPECT_EQ(run_hidden("selftest.leaves_a_child", text), STATUS_OK);
	left = strstr(text, "# left ");
	ASSERT(left && sscanf(left, "# left %d", &pid) == 1 && pid > 1,
	       "no process in the report: %s", text);
	sleep_ms(100);	/* until init has reaped the orphan */
	EXPECT(kill(pid, 0) && errno == ESRCH, "process %d is still there", pid);
}

REPORT_CASE(reports_a_case_that_checks_nothing, "selftest.checks_nothing", STATUS_FAILED,
	    "\n  not ok 1 checks_nothing\n", "checked nothing")
REPORT_CASE(reports_a_skip_with_its_reason, "selftest.skips", STATUS_OK,
	    "\n  ok 1 skips # SKIP no such thing here\n", "")

/* A case of mremap that the sources say is of that size. */
static void expect_of_size(unsigned long size, const char *verdict)
{
	char name[64], line[96];

	snprintf(name, sizeof(name), "mremap.whole_folios-%luk",
		 folio_size(size));
	snprintf(line, sizeof(line), "\n  ok 1 whole_folios-%luk%s\n",
		 folio_size(size), verdict);
	expect_report(name, STATUS_OK, line, "");
}

QUIRE_CASE(selftest, leaves_sizes_out)
{
	setenv("quire_without_sizes", "6,64", 1);
	expect_of_size(64, " # SKIP left out: its size");
	expect_of_size(16, "");
	expect_report("selftest.skips", STATUS_OK, "SKIP no such thing", "");
	unsetenv("quire_without_sizes");
}

QUIRE_CASE(selftest, runs_every_third_case)
{
	char *patterns[] = { "selftest.passes", "selftest.fails",
			     "selftest.skips" };
	char text[REPORT_MAX];
	struct capture capture = capture_begin();

	setenv("quire_shard", "3/3", 1);
	EXPECT_EQ(ktap_run(patterns, ARRAY_SIZE(patterns)), STATUS_OK);
	capture_end(&capture, text, REPORT_MAX);
	EXPECT(strstr(text, "\n  1..1\n  ok 1 skips # SKIP"),
	       "not the third alone: %s", text);
	capture = capture_begin();
	setenv("quire_shard", "4/4", 1);
	EXPECT_EQ(ktap_run(patterns, ARRAY_SIZE(patterns)), STATUS_USAGE);
	capture_end(&capture, text, REPORT_MAX);
}

QUIRE_CASE_TAINTS(selftest, reports_a_tainted_kernel, AUX_TAINT)
{
	if (env_taint() & AUX_TAINT)
		SKIP("the kernel is tainted already");
	expect_report("selftest.taints", STATUS_FAILED,
		      "\n  not ok 1 taints\n", "tainted the kernel: 0x10000");
}

QUIRE_CASE(selftest, refuses_a_pattern_that_matches_nothing)
{
	char text[REPORT_MAX];

	EXPECT_EQ(run_hidden("selftest.no_such_case", text), STATUS_USAGE);
	EXPECT(strstr(text, "no test case of this run matches"), "silent: %s", text);
}

/* No other case has this tag. */
QUIRE_CASE_TAGGED(selftest, tagged, "selftest")
{
	EXPECT(true, "as this one");
}

QUIRE_CASE(selftest, selects_by_tag)
{
	char text[REPORT_MAX];

	expect_report("@selftest", STATUS_OK, "\n  1..1\n  ok 1 tagged\n", "");
	EXPECT_EQ(run_hidden("@no-such-tag", text), STATUS_USAGE);
}

QUIRE_CASE(selftest, lists_tags)
{
	static char text[256 * KIB];
	struct capture capture = capture_begin();

	ktap_list();
	capture_end(&capture, text, sizeof(text));
	EXPECT(strstr(text, "\ntest selftest.tagged @selftest\n"),
	       "the tag is not listed");
	EXPECT(strstr(text, "\ntest selftest.lists_tags\n"),
	       "a case without a tag is not listed as one");
}

QUIRE_CASE(selftest, pattern_finds_every_wrong_byte)
{
	char *page = map_anon(NULL, 2 * PAGE_SIZE);
	size_t i;

	pattern_write(page, 2 * PAGE_SIZE, 7);
	EXPECT_EQ(pattern_verify(page, 2 * PAGE_SIZE, 7), -1);
	EXPECT_EQ(pattern_verify(page, 2 * PAGE_SIZE, 8), 0);
	for (i = 0; i < PAGE_SIZE; i += 7) {
		page[PAGE_SIZE + i] ^= 0x10;
		EXPECT_EQ(pattern_verify(page, 2 * PAGE_SIZE, 7), 1);
		EXPECT_EQ(pattern_verify_page(page + PAGE_SIZE, 7, 1), i);
		page[PAGE_SIZE + i] ^= 0x10;
	}
	memcpy(page + PAGE_SIZE, page, PAGE_SIZE);
	EXPECT_EQ(pattern_verify(page, 2 * PAGE_SIZE, 7), 1);
}
