// SPDX-License-Identifier: GPL-2.0
/*
 * A folio moves to where another thread reclaims single lazyfree pages. Between
 * the removal of their entries and the flush, UFFDIO_MOVE may map a contpte block
 * there: a kernel that tells TLB hazards (docs/dev/tlb.md) reports it if the TLB has
 * not been flushed before.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "memory/pattern.h"
#include "process/map.h"
#include "report/die.h"
#include "tests/lazyfree/lazyfree.h"

#define ROUNDS	32u
#define AREA	(PMD_PAGES / 2)

static unsigned int asked, done;

static void *reclaim_each_round(void *area)
{
	unsigned int round;

	for (round = 1; round <= ROUNDS; round++) {
		while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) < round)
			sched_yield();
		page_out(area, AREA * PAGE_SIZE);
		__atomic_store_n(&done, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The target is in the middle: reclaim goes on with pages on one side of it. */
static void move_during_reclaim(unsigned int round, char *area, unsigned long kib)
{
	size_t pages = folio_pages(kib), len = pages * PAGE_SIZE;
	char *at = range_filled(SRC_BASE, pages, kib);
	char *to = page_at(area, AREA / 2);
	int uffd = uffd_open_or_skip(UFFD_FEATURE_MOVE);

	pattern_write(area, AREA * PAGE_SIZE, SEED_NEW);
	lazy_free(area, AREA);
	uffd_register(uffd, area, AREA * PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING);
	__atomic_store_n(&asked, round, __ATOMIC_RELEASE);
	while (pagemap_present(to, pages))
		sched_yield();
	EXPECT_EQ(uffd_move(uffd, to, at, len), len);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < round)
		sched_yield();
	close(uffd);
	expect_content(to, pages, SEED, 0);
	range_advise(area, AREA, MADV_DONTNEED);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(uffd, moved_during_reclaim, 64)
{
	char *area = range_hole(DST_BASE, AREA);
	unsigned int round;
	pthread_t thread;

	swap_on(SWAP_MIB);
	map_anon(area, AREA * PAGE_SIZE);
	if (pthread_create(&thread, NULL, reclaim_each_round, area))
		die("cannot start a thread");
	for (round = 1; round <= ROUNDS; round++)
		move_during_reclaim(round, area, kib);
	pthread_join(thread, NULL);
}
