// SPDX-License-Identifier: GPL-2.0
/*
 * The entries change while the folio moves: between the time when they became
 * migration entries and the time when they are replaced. Another process moves
 * the range to and fro. This one waits until it sees a migration entry, then
 * does something to a part of each folio.
 *
 * With one CPU, the other process runs when this one sleeps. As its policy is
 * SCHED_IDLE, it loses the CPU as soon as this one wakes up, which is often while
 * it copies a folio.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "memory/probe.h"
#include "migrate.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/child.h"
#include "process/cpu.h"
#include "process/map.h"
#include "report/die.h"

#define ROUNDS		8u
#define LOOKS		3000u
#define LOOK_US		130u
#define SECONDS		60u
#define MARKED_MS	200

/* Waits until a page of the range has a migration entry. */
static bool sees_migration(const char *at, size_t pages)
{
	struct page_state *state = allocate(pages, sizeof(*state));
	bool seen = false;
	size_t n, look;

	for (look = 0; look < LOOKS && !seen; look++) {
		usleep(LOOK_US + look % 32);
		pagemap_read(at, pages, state);
		for (n = 0; n < pages && !seen; n++)
			seen = state[n].swapped;
	}
	free(state);
	return seen;
}

typedef void step(char *at, size_t pages, unsigned long kib);

/*
 * Checks the range when nothing moves any more. If held, each folio has a further
 * reference, to its first page, and cannot move.
 */
static void check_change(unsigned long kib, bool by_pte, bool held, step *change,
			 step *check)
{
	size_t pages = range_pages(kib);
	unsigned int round, seen = 0;

	needs_nodes();
	stay_on_cpu(0);
	for (round = 0; round < ROUNDS; round++) {
		char *at = range_of(kib, by_pte);
		struct mover mover = mover_start(at, pages);
		struct hold hold = { 0 };

		if (held)
			hold = hold_folios(at, pages, kib, 0);
		seen += sees_migration(at, pages);
		change(at, pages, kib);
		mover_end(&mover);
		check(at, pages, kib);
		if (held)
			hold_end(&hold);
		range_drop(at, pages);
	}
	EXPECT(seen > ROUNDS / 2, "a migration entry was seen in %u of %u rounds",
	       seen, ROUNDS);
}

#define BETWEEN_CASE(name_, change_, check_, ...)			\
	QUIRE_CASE_FULL(migrate, name_, SECONDS * 1000u, KTAP_SIZES(__VA_ARGS__)) \
	{								\
		check_change(kib, true, false, change_, check_);	\
	}

/* The upper half of each folio */
static void protect_half(char *at, size_t pages, unsigned long kib)
{
	mask_protect(at, pages, kib, MASK_HIGH_HALF, PROT_READ);
}

static void check_protected(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	expect_content(at, pages, SEED, 0);
	for (n = 0; n < pages; n += nr) {
		expect_read_only(page_at(at, n + nr / 2), nr / 2);
		expect_writable(page_at(at, n), nr / 2);
	}
}

BETWEEN_CASE(protected_between, protect_half, check_protected, LARGE_SIZES)

static void unmap_half(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	for (n = 0; n < pages; n += nr) {
		if (munmap(page_at(at, n + nr / 2), nr / 2 * PAGE_SIZE))
			die_errno("munmap of half a folio");
	}
}

static void check_unmapped(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	for (n = 0; n < pages; n += nr) {
		uint64_t word;

		expect_content(page_at(at, n), nr / 2, SEED, n);
		EXPECT_EQ(probe_read(page_at(at, n + nr / 2), &word), SIGSEGV);
		expect_writable(page_at(at, n), nr / 2);
	}
}

BETWEEN_CASE(unmapped_between, unmap_half, check_unmapped, LARGE_SIZES)

/* As munmap(), but the VMA stays: absent pages are zero when they are read. */
static void drop_half(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	for (n = 0; n < pages; n += nr)
		range_advise(page_at(at, n + nr / 4), nr / 2, MADV_DONTNEED);
}

static void check_dropped(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	for (n = 0; n < pages; n += nr) {
		expect_content(page_at(at, n), nr / 4, SEED, n);
		expect_zero(page_at(at, n + nr / 4), nr / 2);
		expect_content(page_at(at, n + nr * 3 / 4), nr / 4, SEED,
			       n + nr * 3 / 4);
	}
	expect_writable(at, pages);
}

BETWEEN_CASE(dropped_between, drop_half, check_dropped, LARGE_SIZES)

/* All but the first page of each folio */
static void drop_most(char *at, size_t pages, unsigned long kib)
{
	mask_advise(at, pages, kib, MASK_ALL_BUT_FIRST, MADV_DONTNEED);
}

static bool is_large(const char *page)
{
	const uint64_t compound = KPF_COMPOUND_HEAD | KPF_COMPOUND_TAIL;

	return kpage_flags(pagemap_page(page).pfn) & compound;
}

/*
 * A folio that is still large is marked as partially mapped. Otherwise the
 * shrinker never splits it, and one page keeps the memory of all. A folio of the
 * round before may still wait to be freed.
 */
static void check_marked(char *at, size_t pages, unsigned long kib)
{
	long until = now_ms() + MARKED_MS;
	unsigned long marked;
	size_t n, large = 0;

	for (n = 0; n < pages; n += folio_pages(kib)) {
		expect_content(page_at(at, n), 1, SEED, n);
		large += is_large(page_at(at, n));
	}
	do {
		marked = mthp_stat(kib, "nr_anon_partially_mapped");
		if (marked != large)
			sleep_ms(1);
	} while (marked != large && now_ms() < until);
	EXPECT_EQ(marked, large);
}

BETWEEN_CASE(mostly_dropped_between, drop_most, check_marked, LARGE_SIZES)

/* Stock never marks these: all of a PMD's pages go in one step. */
QUIRE_CASE_FULL(migrate, mostly_dropped_between_by_pmd, SECONDS * 1000u,
		.tag = FIXES, KTAP_SIZES(2048))
{
	check_change(kib, false, false, drop_most, check_marked);
}

/*
 * The window lasts from unmapping a batch of migrate_pages() to the first folio
 * that cannot move. A batch has 512 pages: with one folio in it, a batched
 * migration is too short for this process to wake up inside it.
 */
QUIRE_CASE_FULL(migrate, mostly_dropped_between_held, SECONDS * 1000u,
		KTAP_SIZES(16, 64, 256, 1024))
{
	check_change(kib, true, true, drop_most, check_marked);
}

/* The upper half goes elsewhere; at home, new pages take its place. */
static void move_half(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);
	char *to = range_hole(DST_BASE, pages);

	for (n = 0; n < pages; n += nr) {
		move(page_at(at, n + nr / 2), nr / 2, page_at(to, n));
		map_or_die(page_at(at, n + nr / 2), nr / 2 * PAGE_SIZE,
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			   -1, 0);
	}
}

static void check_moved(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	for (n = 0; n < pages; n += nr) {
		expect_content(page_at(at, n), nr / 2, SEED, n);
		expect_zero(page_at(at, n + nr / 2), nr / 2);
		expect_content(page_at(DST_BASE, n), nr / 2, SEED, n + nr / 2);
		expect_writable(page_at(DST_BASE, n), nr / 2);
	}
	expect_writable(at, pages);
	range_drop(DST_BASE, pages);
}

BETWEEN_CASE(moved_between, move_half, check_moved, LARGE_SIZES)

static pid_t forked;

/*
 * A child gets the upper half: these pages are shared, and the others are not.
 * It looks at them when this process has written to all. Both halves are in one
 * VMA again before the folio arrives.
 */
static void fork_half(char *at, size_t pages, unsigned long kib)
{
	size_t n, nr = folio_pages(kib);

	mask_advise(at, pages, kib, MASK_LOW_HALF, MADV_DONTFORK);
	forked = fork_child();
	if (forked) {
		range_advise(at, pages, MADV_DOFORK);
		return;
	}
	raise(SIGSTOP);
	for (n = nr / 2; n < pages; n += nr)
		expect_content(page_at(at, n), nr / 2, SEED, n);
	exit(STATUS_OK);
}

static void check_forked(char *at, size_t pages,
			 unsigned long kib __attribute__((unused)))
{
	int status;

	if (waitpid(forked, &status, WUNTRACED) != forked ||
	    !WIFSTOPPED(status))
		die("the child did not stop");
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	kill(forked, SIGCONT);
	wait_child(forked, "the child of the fork");
	expect_content(at, pages, SEED_NEW, 0);
}

BETWEEN_CASE(forked_between, fork_half, check_forked, LARGE_SIZES)
