// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>

#include "base/clock.h"
#include "kernel/khugepaged.h"
#include "base/units.h"
#include "memory/folio.h"
#include "proc/knob.h"
#include "report/die.h"
#include "run/ktap.h"

#define KHUGEPAGED	"/sys/kernel/mm/transparent_hugepage/khugepaged"
#define NEVER_MS	3600000u
#define STEP_MS		10u
#define LIMIT_MS	1000u

/* The second write wakes it up. */
static void set(unsigned int pages, unsigned int sleep)
{
	write_file(KHUGEPAGED "/pages_to_scan", "%u", pages);
	write_file(KHUGEPAGED "/scan_sleep_millisecs", "%u", sleep);
}

void khugepaged_collapse(char *at, size_t len, unsigned long kib)
{
	unsigned int waited;

	folio_want(kib);
	if (madvise(at, len, MADV_HUGEPAGE))
		die_errno("MADV_HUGEPAGE at %p", at);
	set(1000000, STEP_MS);
	for (waited = 0; !folio_is_size(at, kib) && waited < LIMIT_MS;
	     waited += STEP_MS)
		sleep_ms(STEP_MS);
	set(1, NEVER_MS);
	folio_want(PAGE_KIB);
	if (!folio_is_size(at, kib))
		SKIP("khugepaged makes no folio of %lu KiB of these pages", kib);
}
