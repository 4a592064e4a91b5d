// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/memcg.h"
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "memory/range.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "report/die.h"
#include "report/expectation.h"

char *range_charged(unsigned long kib, bool by_pte)
{
	memcg_enter();
	return range_of(kib, by_pte);
}

/*
 * Clear the accessed bits of a process. Otherwise reclaim would only do that.
 */
static void age(const char *who)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/clear_refs", who);
	write_file(path, "1");
}

void reclaim(char *addr, size_t pages, enum how how)
{
	env_drain_lru();
	age("self");
	if (how == BY_MEMCG)
		memcg_reclaim();
	else
		page_out(addr, pages * PAGE_SIZE);
}

void reclaim_shared(pid_t pid)
{
	char who[16];

	snprintf(who, sizeof(who), "%d", (int)pid);
	env_drain_lru();
	age("self");
	age(who);
	memcg_reclaim();
}

void reclaim_nothing_else(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		die_errno("mlockall");
}

bool swap_splits(unsigned long kib)
{
	return kib > PAGE_KIB && !mthp_stat(kib, "swpout") &&
	       mthp_stat(kib, "swpout_fallback");
}

void needs_whole_swap(unsigned long kib)
{
	if (swap_splits(kib))
		SKIP("this kernel splits folios that go to swap");
}

void reclaim_to_swap_cache(char *addr, size_t pages, unsigned long kib)
{
	const uint64_t want = KPF_SWAPCACHE;
	size_t n;

	/* Reclaim looks at the mapping with the first page first. */
	mask_mlock(addr, pages, kib, MASK_FIRST);
	reclaim(addr, pages, BY_MEMCG);
	range_unlock(addr, pages);
	for (n = 0; n < pages; n++) {
		struct page_state state = pagemap_page(page_at(addr, n));

		if (state.present && (kpage_flags(state.pfn) & want))
			continue;
		needs_whole_swap(kib);
		die("page %zu is %s", n, state.present ?
			    "not in the swap cache" : "no longer mapped");
	}
}

void mask_mlock(char *addr, size_t pages, unsigned long kib,
		const struct mask *mask)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run) {
		if (mlock2(page_at(addr, n), run * PAGE_SIZE, MLOCK_ONFAULT))
			die_errno("mlock2 of page %zu", n);
	}
}
