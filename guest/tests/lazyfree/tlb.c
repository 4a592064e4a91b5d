// SPDX-License-Identifier: GPL-2.0
/*
 * After reclaim, no CPU may still have a TLB entry for a dropped page: neither
 * the CPU that reclaimed nor another one that used the page throughout.
 */
#include <pthread.h>
#include <sched.h>

#include "kernel/swap.h"
#include "lazyfree.h"
#include "process/cpu.h"

/* Touches each page, so that this CPU's TLB has its entry. Returns the sum. */
static uint64_t touch(const char *addr, size_t pages)
{
	uint64_t sum = 0;
	size_t n;

	for (n = 0; n < pages; n++)
		sum += *(volatile uint64_t *)(addr + n * PAGE_SIZE);
	return sum;
}

/*
 * All pages are lazyfree and in the TLB first. Afterwards no page may read as
 * before.
 */
TRIAL_CASE(lazyfree, tlb_flushed, lazy, MAPPINGS, ALL_SIZES)
{
	uint64_t sum;

	touch(t->at, t->pages);
	page_out(t->at, t->pages * PAGE_SIZE);
	sum = touch(t->at, t->pages);
	EXPECT(!sum, "pages that were dropped read as before");
	expect_zero(t->at, t->pages);
	expect_writable(t->at, t->pages);
}

struct watcher {
	const char *addr;
	size_t pages;
	bool reached, look;
	uint64_t sum;
};

static void *watch(void *arg)
{
	struct watcher *watcher = arg;

	stay_on_cpu(cpu_count() - 1);
	touch(watcher->addr, watcher->pages);
	__atomic_store_n(&watcher->reached, true, __ATOMIC_SEQ_CST);
	/* No system call while it waits, so that the TLB is not flushed. */
	while (!__atomic_load_n(&watcher->look, __ATOMIC_SEQ_CST))
		;
	watcher->sum = touch(watcher->addr, watcher->pages);
	return NULL;
}

TRIAL_CASE(lazyfree, tlb_flushed_elsewhere, lazy, MAPPINGS, ALL_SIZES)
{
	struct watcher watcher = { .addr = t->at, .pages = t->pages };
	pthread_t thread;

	if (pthread_create(&thread, NULL, watch, &watcher))
		die("cannot start a thread");
	while (!__atomic_load_n(&watcher.reached, __ATOMIC_SEQ_CST))
		sched_yield();
	page_out(t->at, t->pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_present(t->at, t->pages), 0);
	__atomic_store_n(&watcher.look, true, __ATOMIC_SEQ_CST);
	if (pthread_join(thread, NULL))
		die("cannot join a thread");
	EXPECT(!watcher.sum,
	       "pages that were dropped read as before on another CPU");
	expect_zero(t->at, t->pages);
}
