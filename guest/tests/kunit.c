// SPDX-License-Identifier: GPL-2.0
/*
 * Runs KUnit suites of the kernel and reads their results. They test helpers of
 * the series for all inputs (sabotage/, configs/kunit.config).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "proc/knob.h"
#include "run/ktap.h"

#define KUNIT		"/sys/kernel/debug/kunit"
#define TIMEOUT_S	120
/* A KUnit test taints the kernel: TAINT_TEST. */
#define TAINTS		(1ul << 18)

static char results[64 * KIB];

/* Prints every line about a failure, at any indentation. */
static void expect_no_failure(char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *said = line + strspn(line, " ");

		if (!strncmp(said, "not ok", strlen("not ok")))
			EXPECT(false, "%s", said);
		else if (strncmp(said, "ok", strlen("ok")))
			diag("%s", said);
	}
}

static void suite_passes(const char *suite)
{
	char path[128], verdict[64];

	snprintf(path, sizeof(path), KUNIT "/%s/run", suite);
	if (access(path, F_OK))
		SKIP("this kernel has no KUnit suite %s (kunit.config)", suite);
	write_file(path, "1");
	snprintf(path, sizeof(path), KUNIT "/%s/results", suite);
	if (read_file(path, results, sizeof(results)) < 0)
		die_errno("cannot read %s", path);
	/*
	 * A suite without a result has not passed, and neither has a skipped
	 * one.
	 */
	snprintf(verdict, sizeof(verdict), "\nok 1 %s\n", suite);
	if (!EXPECT(strstr(results, verdict) && !strstr(results, "# SKIP"),
		    "the suite %s has not passed", suite))
		expect_no_failure(results);
}

QUIRE_CASE_FULL(kunit, contpte, TIMEOUT_S * 1000u, .taints = TAINTS)
{
	suite_passes("contpte");
}

QUIRE_CASE_FULL(kunit, rmap_runs, TIMEOUT_S * 1000u, .taints = TAINTS)
{
	suite_passes("rmap_runs");
}
