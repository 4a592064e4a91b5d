// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "memory/poison.h"
#include "memory/probe.h"
#include "report/expectation.h"

bool poison_is_here(void)
{
	return !access("/proc/sys/vm/memory_failure_recovery", F_OK);
}

void poison_or_skip(void)
{
	if (!poison_is_here())
		SKIP("this kernel has no memory failures");
}

static void not_a_fault(int sig __attribute__((unused)))
{
}

bool poison_page(char *page)
{
	bool done;

	poison_or_skip();
	signal(SIGBUS, not_a_fault);
	done = !madvise(page, PAGE_SIZE, MADV_HWPOISON);
	probe_init();
	return done;
}
