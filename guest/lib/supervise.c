// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "env.h"
#include "folio.h"
#include "supervise.h"

#define MAX_PRINTED	16
#define REAP_MS		5000u	/* what SIGKILL has not ended by then is stuck */

/* Shared between the supervisor, the case's process and all it forks. */
struct tally {
	unsigned int failures;
	char skip_reason[160];
};

static struct tally *tally;

bool ktap_expect(bool ok, const char *file, int line, const char *fmt, ...)
{
	unsigned int failures;
	char text[320];
	va_list ap;

	if (ok)
		return true;
	failures = __atomic_add_fetch(&tally->failures, 1, __ATOMIC_RELAXED);
	if (failures > MAX_PRINTED)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag("%s:%d: %s", file, line, text);
	return false;
}

void ktap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(tally->skip_reason, sizeof(tally->skip_reason), fmt, ap);
	va_end(ap);
	exit(STATUS_SKIP);
}

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

static enum verdict judge(int status)
{
	if (tally->failures > MAX_PRINTED)
		diag("%u more failures not printed",
		     tally->failures - MAX_PRINTED);
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

static enum verdict watch(pid_t pid, unsigned int timeout_ms)
{
	enum verdict verdict = TIMEOUT;
	int status;

	if (reap(pid, &status, timeout_ms))
		verdict = judge(status);
	/* The group may be gone, or hold children the case left behind. */
	kill(-pid, SIGKILL);
	if (verdict == TIMEOUT && !reap(pid, &status, REAP_MS))
		diag("process %d cannot be killed", (int)pid);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return verdict;
}

static enum verdict run_forked(const struct ktap_case *test, unsigned long kib)
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
	verdict = watch(pid, patience(test->timeout_ms));
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return verdict;
}

struct outcome supervise(const struct ktap_case *test, unsigned long kib)
{
	struct outcome outcome = { .verdict = FAIL };
	struct tally *outer = tally;	/* set while the self-test nests */
	unsigned long taint;

	env_reset();
	taint = env_taint();
	tally = map_or_die(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	diag_prefix("  # ");
	outcome.verdict = run_forked(test, kib);
	memcpy(outcome.skip_reason, tally->skip_reason,
	       sizeof(outcome.skip_reason));
	taint = env_taint() & ~taint & ~test->taints;
	if (taint) {
		diag("this case tainted the kernel: %#lx", taint);
		outcome.verdict = FAIL;
	}
	unmap(tally, sizeof(*tally));
	tally = outer;
	return outcome;
}
