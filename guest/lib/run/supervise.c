// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/range.h"
#include "process/child.h"
#include "process/map.h"
#include "run/supervise.h"

#define REAP_MS		5000u	/* stuck, if it survives SIGKILL so long */

/*
 * The process of a case, with its own process group, so that all of it can be
 * killed.
 */
static void case_process(const struct ktap_case *test, unsigned long kib)
{
	setpgid(0, 0);
	diag_prefix("  # ");
	folio_want(kib);
	test->run(kib);
	expect_guards();
	exit(STATUS_OK);
}

static enum verdict judge(int status, const struct tally *tally)
{
	if (tally->failures > TALLY_PRINTED)
		diag("%u more failures not printed",
		     tally->failures - TALLY_PRINTED);
	if (WIFSIGNALED(status)) {
		diag("killed by signal %d (%s)", WTERMSIG(status),
		     strsignal(WTERMSIG(status)));
		return FAIL;
	}
	if (tally->failures)
		return FAIL;
	if (WEXITSTATUS(status) == STATUS_SKIP)
		return SKIPPED;
	if (WEXITSTATUS(status)) {
		diag("ended with status %d", WEXITSTATUS(status));
		return FAIL;
	}
	if (!tally->checks) {
		diag("this case checked nothing");
		return FAIL;
	}
	return PASS;
}

/* quire_timeout=MS on the command line, for slow kernels and for real time. */
unsigned int patience(unsigned int timeout_ms)
{
	const char *least = getenv("quire_timeout");
	unsigned int ms = least ? strtoul(least, NULL, 10) : 0;

	return ms > timeout_ms ? ms : timeout_ms;
}

/*
 * Waits for the end of the case or its time limit, then kills all its
 * processes.
 */
static enum verdict attend(pid_t pid, unsigned int timeout_ms,
			   const struct tally *tally)
{
	enum verdict verdict = TIMEOUT;
	int status;

	if (wait_within(pid, &status, timeout_ms))
		verdict = judge(status, tally);
	/* The group may have ended, or may still have children of the case. */
	kill(-pid, SIGKILL);
	if (verdict == TIMEOUT && !wait_within(pid, &status, REAP_MS))
		diag("process %d cannot be killed", (int)pid);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return verdict;
}

static enum verdict run_forked(const struct ktap_case *test, unsigned long kib,
			       const struct tally *tally)
{
	unsigned int ms = test->timeout_ms;
	pid_t pid = fork_child();

	if (!pid)
		case_process(test, kib);
	setpgid(pid, pid);	/* whichever of the two comes first */
	/* A limit below the usual one is that of a case that may loop. */
	if (ms >= KTAP_TIMEOUT_MS)
		ms = patience(ms);
	return attend(pid, ms, tally);
}

struct outcome supervise(const struct ktap_case *test, unsigned long kib)
{
	struct outcome outcome = { .verdict = FAIL };
	struct tally *tally, *outer;
	unsigned long taint;

	env_reset();
	taint = env_taint();
	tally = map_or_die(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	outer = tally_use(tally);	/* the self-test nests */
	diag_prefix("  # ");
	outcome.verdict = run_forked(test, kib, tally);
	memcpy(outcome.skip_reason, tally->skip_reason,
	       sizeof(outcome.skip_reason));
	taint = env_taint() & ~taint & ~test->taints;
	if (taint) {
		diag("this case tainted the kernel: %#lx", taint);
		outcome.verdict = FAIL;
	}
	tally_use(outer);
	unmap(tally, sizeof(*tally));
	return outcome;
}
