// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <sys/mman.h>

#include "base/units.h"
#include "memory/poison.h"
#include "memory/probe.h"

static void not_a_fault(int sig __attribute__((unused)))
{
}

bool poison_page(char *page)
{
	bool done;

	signal(SIGBUS, not_a_fault);
	done = !madvise(page, PAGE_SIZE, MADV_HWPOISON);
	probe_init();
	return done;
}
