// SPDX-License-Identifier: GPL-2.0
/*
 * A user's test. Its report becomes that of one test with subtests, which has
 * the name of the file.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "process/watch.h"
#include "program.h"
#include "report/expectation.h"
#include "report/results.h"
#include "run/supervise.h"

#define MAX_ARGS	64
/* The program's own limit ends first, so that its last output is kept. */
#define MARGIN_MS	10000u
/* The kernel's selftests exit with this: KSFT_SKIP. */
#define SKIPPED_STATUS	4

static char *argv[MAX_ARGS + 1];

static void become(const void *arg __attribute__((unused)))
{
	execv(argv[0], argv);
	die_errno("cannot execute %s", argv[0]);
}

static void take(void *reader, const char *text)
{
	ktap_take(reader, text);
}

/* Runs in the process of the case. */
static void run(unsigned long kib __attribute__((unused)))
{
	struct ktap_reader reader;
	int status;
	bool ok;

	ktap_begin(&reader);
	status = watch_lines(become, NULL, patience(PROGRAM_LIMIT_MS), take,
			     &reader);
	if (status == SKIPPED_STATUS && !reader.level[0].has_plan)
		ktap_take(&reader, "1..0 # SKIP");
	ok = ktap_end(&reader);
	if (ok && (reader.skipped || status == SKIPPED_STATUS))
		SKIP("%s", reader.reason);
	if (ok && status)
		diag("no test failed, but the program did: status %d", status);
	ktap_count(ok && !status);
	exit(STATUS_OK);
}

static bool report(const char *name, const struct outcome *outcome)
{
	bool ok = outcome->verdict == PASS || outcome->verdict == SKIPPED;

	results_line("%s 1 %s%s%s", ok ? "ok" : "not ok", name,
		     outcome->verdict == SKIPPED ? " # SKIP" : "",
		     outcome->skip_reason);
	return ok;
}

int program_test(size_t nr, char *const *words)
{
	const struct ktap_case test = {
		.suite = "program",
		.name = program_name(words[0]),
		.run = run,
		.timeout_ms = patience(PROGRAM_LIMIT_MS) + MARGIN_MS,
	};
	struct outcome outcome;

	if (nr > MAX_ARGS)
		die_usage("program test: more than %d words", MAX_ARGS);
	memcpy(argv, words, nr * sizeof(*words));
	program_check(words[0]);
	results_line("KTAP version 1");
	results_line("1..1");
	outcome = supervise(&test, PAGE_KIB);
	return report(test.name, &outcome) ? STATUS_OK : STATUS_FAILED;
}
