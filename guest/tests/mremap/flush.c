// SPDX-License-Identifier: GPL-2.0
/*
 * After a move, no CPU may have a TLB entry for the old place. The guards
 * beside each range keep its page tables from being freed; freeing them would
 * flush the TLB anyway.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "mremap.h"
#include "process/cpu.h"

#define TURNS	24
#define DST	page_at(DST_BASE, BLOCK)

static void read_all(char *addr, size_t pages)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < pages; n++)
		EXPECT(!probe_read(page_at(addr, n), &word),
		       "page %zu of %p cannot be read", n, addr);
}

/* Which page to check first: the last, the first, and others. */
static size_t page_of_turn(size_t turn, size_t pages)
{
	return (turn * (pages / 8 + 1) + pages - 1) % pages;
}

MOVE_CASE(flush_this_cpu, ALL_SIZES)
{
	size_t turn;
	uint64_t word;

	for (turn = 0; turn < TURNS; turn++) {
		size_t page = page_of_turn(turn, pages);
		char *was = turn % 2 ? to : from, *now = turn % 2 ? from : to;
		int stale;

		/* No system call except the move between the two reads. */
		read_all(was, pages);
		read_all(page_at(was, page), 1);
		move(was, pages, now);
		stale = !probe_read(page_at(was, page), &word);
		EXPECT(!stale, "page %zu can still be read at %p", page, was);
		EXPECT(probe_write(page_at(was, page), 0),
		       "page %zu can still be written at %p", page, was);
	}
	expect_gone(to, pages);
	expect_content(from, pages, SEED, 0);
}

/* The old place reads as new memory, not as what was moved. */
QUIRE_CASE_SIZES(mremap, flush_dontunmap, ALL_SIZES)
{
	size_t turn, pages = range_pages(kib);
	uint64_t word, first;

	for (turn = 0; turn < TURNS / 3; turn++) {
		size_t page = page_of_turn(turn, pages);
		char *from = range_filled(SRC_BASE, pages, kib);
		char *to = range_hole(DST, pages);

		read_all(page_at(from, page), 1);
		move_full(from, pages, pages, MREMAP_DONTUNMAP, to);
		EXPECT(!probe_read(page_at(from, page), &word) && !word,
		       "page %zu: the old place has %#llx", page,
		       (unsigned long long)word);
		EXPECT(!probe_write(page_at(from, page), ~word),
		       "page %zu of the old place cannot be written", page);
		EXPECT(!probe_read(page_at(to, page), &first) && first != ~word,
		       "page %zu: a write to the old place moved", page);
		expect_content(to, pages, SEED, 0);
		range_drop(from, pages);
		range_drop(to, pages);
	}
}

/* What the two threads of the next case tell each other. */
struct watch {
	char *addr;
	size_t pages;
	size_t page;		/* the one to read */
	unsigned long reads;	/* since the last move */
	bool moved;		/* the page is no longer at addr */
	bool noticed;		/* the reader has seen that, and has checked */
	bool stale;		/* ... and could still read it */
	bool end;
};

#define GET(x)		__atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define PUT(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)

static void *reader(void *arg)
{
	struct watch *watch = arg;

	stay_on_cpu(cpu_count() - 1);
	while (!GET(watch->end)) {
		bool moved = GET(watch->moved);
		uint64_t word;
		bool readable = !probe_read(page_at(watch->addr,
						    GET(watch->page)), &word);

		if (!moved) {
			PUT(watch->reads, watch->reads + 1);
			continue;
		}
		if (!GET(watch->noticed)) {
			PUT(watch->stale, readable);
			PUT(watch->noticed, true);
		}
		sched_yield();
	}
	return NULL;
}

static void check_turn(struct watch *watch, char *to, size_t page)
{
	PUT(watch->page, page);
	PUT(watch->reads, 0);
	PUT(watch->moved, false);
	while (GET(watch->reads) < 3)
		sched_yield();
	move(watch->addr, watch->pages, to);
	PUT(watch->noticed, false);
	PUT(watch->moved, true);
	while (!GET(watch->noticed))
		sched_yield();
	EXPECT(!GET(watch->stale), "another CPU can still read page %zu at %p",
	       page, watch->addr);
	move(to, watch->pages, watch->addr);
}

/* The TLB of another CPU, which reads the old place all the time. */
MOVE_CASE(flush_other_cpu, ALL_SIZES)
{
	size_t turn;
	struct watch watch = {
		.addr = from, .pages = pages, .noticed = true,
	};
	pthread_t thread;

	needs_other_cpu();
	if (pthread_create(&thread, NULL, reader, &watch))
		die("cannot start a thread");
	for (turn = 0; turn < TURNS; turn++)
		check_turn(&watch, to, page_of_turn(turn, pages));
	PUT(watch.end, true);
	if (pthread_join(thread, NULL))
		die("cannot join a thread");
	expect_content(from, pages, SEED, 0);
}
