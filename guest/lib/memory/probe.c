// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "memory/probe.h"
#include "report/die.h"

static __thread sigjmp_buf escape;
static __thread volatile bool probing;

static void on_fault(int sig)
{
	if (probing)
		siglongjmp(escape, sig);
	/*
	 * Not from a probe: return, so that the fault repeats and ends the
	 * process.
	 */
	signal(sig, SIG_DFL);
}

void probe_init(void)
{
	struct sigaction action = { .sa_handler = on_fault };

	/*
	 * SA_NODEFER and a jump buffer without a signal mask: a probe then
	 * makes no system call of its own, which could hide a stale TLB entry.
	 */
	action.sa_flags = SA_NODEFER;
	if (sigaction(SIGSEGV, &action, NULL) || sigaction(SIGBUS, &action, NULL))
		die_errno("cannot install a fault handler");
}

int probe_read(const void *addr, uint64_t *value)
{
	int sig = sigsetjmp(escape, 0);

	if (!sig) {
		probing = true;
		*value = *(const volatile uint64_t *)addr;
	}
	probing = false;
	return sig;
}

int probe_write(void *addr, uint64_t value)
{
	int sig = sigsetjmp(escape, 0);

	if (!sig) {
		probing = true;
		*(volatile uint64_t *)addr = value;
	}
	probing = false;
	return sig;
}

int probe_read_words(const void *addr, size_t stride, uint64_t *word, size_t nr)
{
	int sig = sigsetjmp(escape, 0);
	size_t i;

	if (!sig) {
		probing = true;
		for (i = 0; i < nr; i++)
			word[i] = *(const volatile uint64_t *)
				  ((const char *)addr + i * stride);
	}
	probing = false;
	return sig;
}

int probe_write_words(void *addr, size_t stride, const uint64_t *word, size_t nr)
{
	int sig = sigsetjmp(escape, 0);
	size_t i;

	if (!sig) {
		probing = true;
		for (i = 0; i < nr; i++)
			*(volatile uint64_t *)((char *)addr + i * stride) =
				word[i];
	}
	probing = false;
	return sig;
}

int probe_call(void (*call)(void *arg), void *arg)
{
	int sig = sigsetjmp(escape, 0);

	if (!sig) {
		probing = true;
		call(arg);
	}
	probing = false;
	return sig;
}
