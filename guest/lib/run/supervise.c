// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "process/child.h"
#include "process/map.h"
#include "run/supervise.h"

#define REAP_MS		5000u	/* what SIGKILL has not ended by then is stuck */

/* The case's own process: a new process group, so that nothing survives it. */
static void case_process(const struct ktap_case *test, unsigned long kib,
			 const sigset_t *mask)
{
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	diag_prefix("  # ");
	folio_want(kib);
	test->run(kib);
	exit(STATUS_OK);
}

/* Wait for pid at most that long; SIGCHLD is blocked. False: still running. */
static bool reap(pid_t pid, int *status, unsigned int ms)
{
	long left, end = now_ms() + ms;
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	while (waitpid(pid, status, WNOHANG) != pid) {
		struct timespec wait;

		left = end - now_ms();
		if (left <= 0)
			return false;
		wait.tv_sec = left / 1000;
		wait.tv_nsec = left % 1000 * 1000000;
		sigtimedwait(&chld, NULL, &wait);
	}
	return true;
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
	return PASS;
}

/* quire_timeout=MS on the command line: slow kernels, or time that is real. */
unsigned int patience(unsigned int timeout_ms)
{
	const char *least = getenv("quire_timeout");
	unsigned int ms = least ? strtoul(least, NULL, 10) : 0;

	return ms > timeout_ms ? ms : timeout_ms;
}

/* To its end, or to that of its time. Then no process of the case is left. */
static enum verdict attend(pid_t pid, unsigned int timeout_ms,
			   const struct tally *tally)
{
	enum verdict verdict = TIMEOUT;
	int status;

	if (reap(pid, &status, timeout_ms))
		verdict = judge(status, tally);
	/* The group may be gone, or hold children the case left behind. */
	kill(-pid, SIGKILL);
	if (verdict == TIMEOUT && !reap(pid, &status, REAP_MS))
		diag("process %d cannot be killed", (int)pid);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return verdict;
}

static enum verdict run_forked(const struct ktap_case *test, unsigned long kib,
			       const struct tally *tally)
{
	enum verdict verdict;
	sigset_t chld, mask;
	pid_t pid;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &mask);
	pid = fork_child();
	if (!pid)
		case_process(test, kib, &mask);
	setpgid(pid, pid);	/* whichever of the two comes first */
	verdict = attend(pid, patience(test->timeout_ms), tally);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return verdict;
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
	outer = tally_use(tally);	/* set while the self-test nests */
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
