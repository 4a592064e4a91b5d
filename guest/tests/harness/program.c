// SPDX-License-Identifier: GPL-2.0
/*
 * Is the report of a user's program passed on in a form that the host can read,
 * and is it judged correctly?
 */
#include <string.h>

#include "program/ktap.h"
#include "report/capture.h"
#include "run/ktap.h"

#define REPORT_MAX	4096

/* Passes a program's output on: the result must be exactly `want`. */
static void expect_passed_on(const char *const *lines, bool ok,
			     const char *want)
{
	struct capture capture = capture_begin();
	struct ktap_reader reader;
	char text[REPORT_MAX];
	bool is;

	ktap_begin(&reader);
	for (; *lines; lines++)
		ktap_take(&reader, *lines);
	is = ktap_end(&reader);
	capture_end(&capture, text, sizeof(text));
	EXPECT_EQ(is, ok);
	EXPECT(!strcmp(text, want), "passed on: %s", text);
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

QUIRE_CASE(selftest, program_in_ktap)
{
	expect_passed_on(LINES("KTAP version 1", "1..2", "hello", "ok 1 a",
			       "# of b", "ok 2 - b # SKIP no b here"), true,
			 "  KTAP version 1\n"
			 "  1..2\n"
			 "  # hello\n"
			 "  ok 1 a\n"
			 "  # of b\n"
			 "  ok 2 - b # SKIP no b here\n");
}

/* Indent its lines only by the indentation of a subtest. */
QUIRE_CASE(selftest, program_in_tap)
{
	expect_passed_on(LINES("TAP version 14", "# Subtest: a", "    ok 1 - x",
			       "    1..1", "ok 1 - a", "ok - b", "1..2"), true,
			 "  KTAP version 1\n"
			 "  # Subtest: a\n"
			 "      KTAP version 1\n"
			 "      ok 1 - x\n"
			 "      1..1\n"
			 "  ok 1 - a\n"
			 "  ok 2 - b\n"
			 "  1..2\n");
}

QUIRE_CASE(selftest, program_with_a_failure)
{
	expect_passed_on(LINES("1..1", "not ok 1 a"), false,
			 "  KTAP version 1\n"
			 "  1..1\n"
			 "  not ok 1 a\n");
}

QUIRE_CASE(selftest, program_with_a_failure_within)
{
	expect_passed_on(LINES("1..1", "  KTAP version 1", "  1..1",
			       "  not ok 1 x", "ok 1 a"), false,
			 "  KTAP version 1\n"
			 "  1..1\n"
			 "    KTAP version 1\n"
			 "    1..1\n"
			 "    not ok 1 x\n"
			 "  ok 1 a\n"
			 "  # a test is ok although its subtest failed\n");
}

QUIRE_CASE(selftest, program_that_ends_too_early)
{
	expect_passed_on(LINES("KTAP version 1", "1..3", "ok 1 a"), false,
			 "  KTAP version 1\n"
			 "  1..3\n"
			 "  ok 1 a\n"
			 "  # 1 of 3 planned tests were reported\n");
}

QUIRE_CASE(selftest, program_that_counts_wrong)
{
	expect_passed_on(LINES("1..2", "ok 1 a", "ok 3 b"), false,
			 "  KTAP version 1\n"
			 "  1..2\n"
			 "  ok 1 a\n"
			 "  ok 3 b\n"
			 "  # results are not numbered 1, 2, 3, ...\n");
}

QUIRE_CASE(selftest, program_that_says_nothing)
{
	expect_passed_on(LINES("hello", "exit 0"), false,
			 "  KTAP version 1\n"
			 "  # hello\n"
			 "  # exit 0\n"
			 "  # no test was reported\n"
			 "  # there is no plan, a line 1..N\n");
}

QUIRE_CASE(selftest, program_that_is_skipped)
{
	expect_passed_on(LINES("TAP version 13", "1..0 # SKIP no such device"),
			 true,
			 "  KTAP version 1\n"
			 "  1..0 # SKIP no such device\n");
}
