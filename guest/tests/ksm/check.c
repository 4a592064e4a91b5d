// SPDX-License-Identifier: GPL-2.0
/*
 * Checks that the kernel finds every mapping of a merged page. The kernel must
 * see an access through each mapping, and must be able to replace each.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "memory/poison.h"
#include "worker.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "proc/idle.h"
#include "proc/proc.h"

#define SWAP_MIB	(32 * PAGE_SCALE)
#define RECLAIMS	60u	/* aging takes several; some come back */
#define HWPOISON	"/sys/kernel/debug/hwpoison"

void expect_same(const struct mappings *all)
{
	size_t i;

	for (i = 0; i < all->nr; i++)
		EXPECT(!mapping_do(&all->at[i], act_verify, SAME),
		       "process %d has wrong data at %p",
		       (int)worker_pid(all->at[i].who), all->at[i].addr);
}

/* All map one page, and no other mapping of it exists. */
static bool expect_merged(const struct mappings *all)
{
	uint64_t pfn = mappings_merged(all);
	bool ok;
	size_t i;

	ok = EXPECT(pfn, "not all %zu mappings are of one merged page", all->nr);
	for (i = 0; !ok && i < all->nr; i++)
		diag("process %d, %p: %#" PRIx64,
		     (int)worker_pid(all->at[i].who), all->at[i].addr,
		     mapping_state(&all->at[i]).raw);
	return ok && EXPECT(kpage_count(pfn) == all->nr,
			    "the page is mapped %" PRIu64 " times, not %zu",
			    kpage_count(pfn), all->nr);
}

void expect_reached(const struct mappings *all)
{
	struct idle_bit idle;
	size_t i;

	if (!expect_merged(all))
		return;
	env_drain_lru();	/* only pages on an LRU list can be idle */
	idle = idle_open(mappings_merged(all));
	idle_set(&idle);
	EXPECT(idle_get(&idle), "an access was seen where there was none");
	for (i = 0; i < all->nr; i++) {
		idle_set(&idle);
		mapping_do(&all->at[i], act_touch, 0);
		EXPECT(!idle_get(&idle),
		       "an access of process %d through %p was not seen",
		       (int)worker_pid(all->at[i].who), all->at[i].addr);
	}
	close(idle.fd);
}

void unpoison(uint64_t pfn)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, pfn);
	if (!try_write_file(HWPOISON "/unpoison-pfn", text))
		diag("page %#" PRIx64 " stays out of use", pfn);
}

void expect_migrated(const struct mappings *all)
{
	uint64_t pfn = mappings_merged(all);
	struct page_state state;
	long error;
	size_t i;

	/* Only a memory failure moves a page of KSM's on request. */
	if (!expect_merged(all) || !poison_is_here())
		return;
	error = mapping_do(&all->at[0], act_soft_offline, 0);
	EXPECT(!error, "the merged page cannot be moved: %s", strerror(error));
	for (i = 0; i < all->nr; i++) {
		state = mapping_state(&all->at[i]);
		EXPECT(state.present && state.pfn != pfn,
		       "process %d, %p: %#" PRIx64 " after page %#" PRIx64
		       " was moved", (int)worker_pid(all->at[i].who),
		       all->at[i].addr, state.raw, pfn);
	}
	expect_merged(all);
	expect_same(all);
	if (!error)
		unpoison(pfn);
}

static bool all_swapped(const struct mappings *all)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		if (!mapping_state(&all->at[i]).swapped)
			return false;
	}
	return true;
}

/* MADV_PAGEOUT leaves pages alone that are mapped more than once. */
void mappings_swap_out(const struct mappings *all)
{
	struct page_state first, state;
	unsigned int tries;
	size_t i;

	if (!meminfo_kib("SwapTotal"))
		swap_on(SWAP_MIB);
	for (tries = 0; tries < RECLAIMS && !all_swapped(all); tries++)
		try_write_file(KSM_CGROUP "/memory.reclaim",
			       "256K swappiness=200");
	first = mapping_state(&all->at[0]);
	for (i = 0; i < all->nr; i++) {
		state = mapping_state(&all->at[i]);
		EXPECT(state.swapped && state.swap_offset == first.swap_offset,
		       "process %d, %p: %#" PRIx64 " after swapping out",
		       (int)worker_pid(all->at[i].who), all->at[i].addr,
		       state.raw);
	}
}

void expect_swapped(const struct mappings *all)
{
	if (!expect_merged(all))
		return;
	mappings_swap_out(all);
	expect_same(all);
}

void expect_found(const struct mappings *all)
{
	expect_same(all);
	expect_reached(all);
	expect_migrated(all);
	expect_reached(all);	/* its mappings have not changed */
	expect_swapped(all);
}
