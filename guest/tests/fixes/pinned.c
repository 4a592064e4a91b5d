// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_FREE of pages that are pinned for writing by somebody who never marks
 * them dirty (configs/pin.config). What is written after MADV_FREE is kept, by
 * whatever way.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/env.h"
#include "kernel/gup_test.h"
#include "kernel/reclaim.h"
#include "kernel/swap.h"
#include "kernel/uring.h"
#include "memory/expect.h"
#include "memory/range.h"
#include "run/ktap.h"

/*
 * When the pages are freed. The folios become lazyfree when this CPU's LRU
 * batches are drained, here or later.
 */
enum order { FREED, FREED_AND_DRAINED, FREED_WHILE_PINNED, NR_ORDERS };

static void free_lazily(char *at, size_t pages)
{
	range_advise(at, pages, MADV_FREE);
}

static void check_buffer(unsigned long kib, bool by_pte, enum order order,
			 bool reclaimed_while_pinned)
{
	size_t pages = range_pages(kib);
	char *at = range_charged(kib, by_pte);
	int fd = swap_open_spare_filled(pages, SEED_NEW);

	if (order != FREED_WHILE_PINNED)
		free_lazily(at, pages);
	if (order == FREED_AND_DRAINED)
		env_drain_lru();
	if (!uring_register(at, pages * PAGE_SIZE))
		SKIP("this kernel has no io_uring (configs/pin.config)");
	if (order == FREED_WHILE_PINNED)
		free_lazily(at, pages);
	if (reclaimed_while_pinned)
		reclaim(at, pages, BY_PAGEOUT);
	uring_read(fd, at, pages * PAGE_SIZE);
	uring_unregister();
	reclaim(at, pages, reclaimed_while_pinned ? BY_PAGEOUT : BY_MEMCG);
	expect_content(at, pages, SEED_NEW, 0);
	close(fd);
	range_drop(at, pages);
}

static void check_buffers(unsigned long kib, bool reclaimed_while_pinned)
{
	enum order order;

	swap_on(SWAP_FOR_TESTS);
	for_each_mapping(by_pte, kib) {
		for (order = 0; order < NR_ORDERS; order++)
			check_buffer(kib, by_pte, order,
				     reclaimed_while_pinned);
	}
}

QUIRE_CASE_SIZES_CALL_TAGGED(fixes, pinned_buffer, FIXES,
			     check_buffers(kib, false), ALL_SIZES)

/*
 * Reclaim that finds the pin, then writes, then reclaim: where an extra reference
 * made the folio swap-backed, it was kept without any dirty bit.
 */
QUIRE_CASE_SIZES_CALL_TAGGED(fixes, pinned_reclaimed, FIXES, check_buffers(kib, true),
			     ALL_SIZES)

/* Nothing is written, but could be: the pages are kept as they were. */
static void check_device(unsigned long kib, bool by_pte, bool fast)
{
	size_t pages = range_pages(kib);
	char *at = range_charged(kib, by_pte);

	free_lazily(at, pages);
	env_drain_lru();
	if (!gup_test_pin(at, pages * PAGE_SIZE, fast))
		SKIP("this kernel has no gup_test (configs/pin.config)");
	reclaim(at, pages, BY_MEMCG);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES_TAGGED(fixes, pinned_fast, FIXES, ALL_SIZES)
{
	swap_on(SWAP_FOR_TESTS);
	for_each_mapping(by_pte, kib)
		check_device(kib, by_pte, true);
}

QUIRE_CASE_SIZES_TAGGED(fixes, pinned_slow, FIXES, ALL_SIZES)
{
	swap_on(SWAP_FOR_TESTS);
	for_each_mapping(by_pte, kib)
		check_device(kib, by_pte, false);
}
