// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>

#include "base/clock.h"
#include "kernel/ksm.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "report/die.h"

#define KSM_SYSFS	"/sys/kernel/mm/ksm"
#define STEP_MS		10u
#define LIMIT_MS	5000u

void ksm_mergeable(void *addr, size_t len)
{
	if (madvise(addr, len, MADV_MERGEABLE))
		die_errno("MADV_MERGEABLE at %p", addr);
}

bool ksm_merged(const void *a, const void *b)
{
	struct page_state at_a = pagemap_page(a), at_b = pagemap_page(b);

	return at_a.present && at_b.present && at_a.pfn == at_b.pfn &&
	       kpage_flags(at_a.pfn) & KPF_KSM;
}

/* Two full scans: KSM merges a page when the second finds the same checksum. */
uint64_t ksm_merge(const void *a, const void *b)
{
	unsigned int waited;

	write_file(KSM_SYSFS "/sleep_millisecs", "%u", STEP_MS / 2);
	write_file(KSM_SYSFS "/pages_to_scan", "1000");
	write_file(KSM_SYSFS "/run", "1");
	for (waited = 0; !ksm_merged(a, b) && waited < LIMIT_MS;
	     waited += STEP_MS)
		sleep_ms(STEP_MS);
	write_file(KSM_SYSFS "/run", "0");
	if (!ksm_merged(a, b))
		die("KSM did not merge %p and %p within %u ms", a, b, LIMIT_MS);
	return pagemap_page(a).pfn;
}
