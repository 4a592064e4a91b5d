// SPDX-License-Identifier: GPL-2.0
/*
 * What the pages next to the written one keep: they become writable, and nothing
 * else changes. Where a write has to be noticed, it still is.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/uapi.h"
#include "cow.h"
#include "kernel/pin.h"
#include "kernel/wp.h"
#include "memory/part.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/child.h"

#define VALUE		0x99
#define IN_ORDER	6	/* so many pages in order, and a block becomes writable */

/* The written pages are soft-dirty, and no other is; later the others are. */
QUIRE_CASE_SIZES(cow, soft_dirty, LARGE_SIZES)
{
	size_t pages = range_pages(kib), n;

	needs_soft_dirty();
	for_each_mask(mask) {
		char *at = cow_range(kib, true);
		struct snapshot *now;

		fork_and_forget();
		pagemap_clear_soft_dirty();
		cow_mark_all(at, pages, kib, mask, VALUE);
		now = snapshot(at, pages);
		for (n = 0; n < pages; n++)
			EXPECT(now->page[n].soft_dirty == masked(mask, n, kib),
			       "%s pages written: page %zu is %ssoft-dirty",
			       mask->name, n,
			       now->page[n].soft_dirty ? "" : "not ");
		free(now);
		/* Exclusive by now, half soft-dirty: the rest is noticed, too */
		fork_and_forget();
		cow_mark_all(at, pages, kib, MASK_ALL, VALUE + 1);
		now = snapshot(at, pages);
		for (n = 0; n < pages; n++)
			EXPECT(now->page[n].soft_dirty,
			       "page %zu was written and is not soft-dirty", n);
		free(now);
		range_drop(at, pages);
	}
}

/* Protected by userfaultfd after the fork: each write to such a page stops. */
QUIRE_CASE_SIZES(cow, wp_stops, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = cow_range(kib, true);
		int uffd;

		fork_and_forget();
		uffd = wp_protect(at, pages, kib, mask);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
	}
}

/*
 * Where protection ends at the write, without a message, do_wp_page() takes a
 * contpte block apart before it comes to the entries around the fault. Protection
 * of the other pages stays.
 */
QUIRE_CASE_SIZES(cow, wp_async_of_one, 64, 256, 1024)
{
	size_t pages = range_pages(kib), written = folio_pages(kib) / 2 + 3, n;
	char *at = cow_range(kib, true);
	int uffd = uffd_open(WP_FEATURES | UFFD_FEATURE_WP_ASYNC);

	uffd_register_wp(uffd, at, pages * PAGE_SIZE);
	/* In one call, which leaves contpte blocks whole */
	uffd_writeprotect(uffd, at, pages * PAGE_SIZE, true);
	cow_mark(at, written, VALUE);
	/* A write that nothing stops would leave the bit set */
	cow_mark(at, written + 2, VALUE);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(pagemap_page(page_at(at, n)).uffd_wp,
			  n != written && n != written + 2);
	close(uffd);
	range_drop(at, pages);
}

/* Some pages are in another VMA, with other rights, or gone. */
static void check_part(unsigned long kib, const struct mask *mask,
		       const struct part *part)
{
	size_t pages = range_pages(kib), n;
	char *at = cow_range(kib, true);

	fork_and_forget();
	part_give(at, pages, kib, mask, part);
	/* The first writes to each folio, by the last pages that can be written */
	for (n = 0; n < pages; n += folio_pages(kib)) {
		size_t page = n + folio_pages(kib) - 1, i;

		while (page > n && masked(mask, page, kib))
			page--;
		for (i = page > n + IN_ORDER ? page - IN_ORDER : n; i <= page; i++) {
			if (!masked(mask, i, kib))
				pattern_write_page(page_at(at, i), SEED, i);
		}
	}
	expect_part(at, pages, kib, mask, part);
	range_drop(at, pages);
}

QUIRE_CASE_FULL(cow, parts, 60000u, KTAP_SIZES(16, 64, 256, 2048))
{
	for_each_part(kib, check_part);
}

/* Writes some pages of each 64 KiB in order, but not the last ones. */
static void write_some(char *at, size_t pages)
{
	size_t n, i;

	for (n = 3; n < pages; n += BLOCK) {
		for (i = 0; i < IN_ORDER; i++)
			cow_mark(at, n + i, VALUE);
	}
}

/*
 * How much of the range is in the state that writing gives to a page. A contpte
 * block has one accessed and one dirty state.
 */
static void expect_few(const char *at, const char *field, size_t pages)
{
	unsigned long all = pages * PAGE_SIZE / KIB;
	unsigned long some = all / BLOCK * IN_ORDER;
	unsigned long is = smaps_kib(at, field);

	EXPECT(is == some || (ARCH_BLOCK_STATE && is <= all),
	       "%s is %lu KiB, not %lu", field, is, some);
}

/* Pages that are clean, as they are lazyfree, stay clean until written. */
QUIRE_CASE_SIZES(cow, neighbours_stay_clean, 64, 256, 1024)
{
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);

	if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
		die_errno("MADV_FREE");
	fork_and_forget();
	write_some(at, pages);
	expect_few(at, "Private_Dirty", pages);
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE);
	EXPECT_EQ(smaps_kib(at, "Private_Dirty"), pages * PAGE_SIZE / KIB);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(cow, neighbours_stay_old, 64, 256, 1024)
{
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);

	fork_and_forget();
	write_file("/proc/self/clear_refs", "1");
	write_some(at, pages);
	expect_few(at, "Referenced", pages);
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE);
	EXPECT_EQ(smaps_kib(at, "Referenced"), pages * PAGE_SIZE / KIB);
	range_drop(at, pages);
}

/* A fork in which the child gets some pages only, or zeroes instead of them. */
static void check_not_all(unsigned long kib, const struct mask *mask, int advice,
			  int undo)
{
	size_t pages = range_pages(kib), n = 0, run;
	char *at = cow_range(kib, true);
	struct peer peer;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run) {
		if (madvise(page_at(at, n), run * PAGE_SIZE, advice))
			die_errno("madvise %d", advice);
	}
	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		for (n = 0; n < pages; n++) {
			if (!masked(mask, n, kib))
				expect_content(page_at(at, n), 1, SEED, n);
			else if (advice == MADV_WIPEONFORK)
				expect_zero(page_at(at, n), 1);
		}
		write_shared(at, pages, kib, mask, SEED_CHILD);
		peer_turn(&peer);
		expect_shared(at, pages, kib, mask, SEED_CHILD);
		peer_end(&peer);
	}
	if (madvise(at, pages * PAGE_SIZE, undo))
		die_errno("madvise %d", undo);
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE);
	peer_turn(&peer);
	cow_expect(at, pages, kib, MASK_ALL, VALUE);
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE + 1);
	peer_turn(&peer);
	peer_join(&peer, "the child that got some pages");
	cow_expect(at, pages, kib, MASK_ALL, VALUE + 1);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(cow, dontfork, ALL_SIZES)
{
	for_each_mask(mask)
		check_not_all(kib, mask, MADV_DONTFORK, MADV_DOFORK);
}

QUIRE_CASE_SIZES(cow, wipeonfork, ALL_SIZES)
{
	for_each_mask(mask)
		check_not_all(kib, mask, MADV_WIPEONFORK, MADV_KEEPONFORK);
}

/*
 * A second fork shares the pages that are not in the mask: writes to the others
 * of a block leave them read-only. The first page of each folio may be `marked`.
 */
static void share_and_write(char *at, unsigned long kib, const struct mask *mask,
			    bool marked)
{
	size_t pages = range_pages(kib), n;
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, mask)) {
		peer_wait(&peer);
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, kib))
				continue;
			cow_expect_rest(at, n);
			if (!marked || n % folio_pages(kib))
				expect_content(page_at(at, n), 1, SEED, n);
		}
		peer_end(&peer);
	}
	cow_mark_all(at, pages, kib, mask, VALUE);
	cow_mark_all(at, pages, kib, MASK_ALL, VALUE + 1);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	cow_expect(at, pages, kib, MASK_ALL, VALUE + 1);
	range_drop(at, pages);
}

/* All pages are exclusive before some are shared. */
static void check_shared_neighbours(unsigned long kib, const struct mask *mask)
{
	size_t pages = range_pages(kib), n;
	char *at = cow_range(kib, true);

	fork_and_forget();
	for (n = 0; n < pages; n += folio_pages(kib))
		cow_mark(at, n, VALUE);
	share_and_write(at, kib, mask, true);
}

QUIRE_CASE_SIZES(cow, shared_neighbours, LARGE_SIZES)
{
	for_each_mask(mask)
		check_shared_neighbours(kib, mask);
}

/* Pages that are dirty stay so when another page of the block is written. */
QUIRE_CASE_SIZES(cow, neighbours_stay_dirty, 64, 256, 1024)
{
	size_t pages = range_pages(kib);
	char *at = cow_range(kib, true);

	fork_and_forget();
	write_some(at, pages);
	EXPECT_EQ(smaps_kib(at, "Private_Dirty"), pages * PAGE_SIZE / KIB);
	range_drop(at, pages);
}

/* Waits until the process stops, and writes a word there. */
static void poke(pid_t pid, char *at, long word)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("the process does not stop for its debugger");
	if (ptrace(PTRACE_POKEDATA, pid, at, word))
		die_errno("cannot write to %p", at);
}

/*
 * A debugger writes to memory that the process only reads: no page becomes
 * writable by that, neither at the first write to a folio nor at the second.
 */
QUIRE_CASE_SIZES(cow, written_by_debugger, ALL_SIZES)
{
	size_t pages = range_pages(kib), n, first = folio_pages(kib) / 2;
	pid_t pid = fork_child();
	char *at;

	if (pid) {
		poke(pid, page_at(SRC_BASE, first), VALUE);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		poke(pid, page_at(SRC_BASE, first + 1), VALUE);
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
		wait_child(pid, "the process that has a debugger");
		return;
	}
	at = cow_range(kib, true);
	fork_and_forget();
	range_protect(at, pages, PROT_READ);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP) ||
	    raise(SIGSTOP))
		die_errno("cannot stop for a debugger");
	for (n = first; n < first + 2; n++)
		EXPECT(*(volatile long *)(void *)page_at(at, n) == VALUE,
		       "page %zu does not have what was written", n);
	expect_read_only(at, pages);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	for (n = first; n < first + 2; n++)
		pattern_write_page(page_at(at, n), SEED, n);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
	exit(0);
}

/* Direct I/O that reads a page makes it exclusive and leaves it read-only. */
static void check_read_by_device(unsigned long kib, const struct mask *mask,
				 size_t index)
{
	char *at = cow_range(kib, true);

	fork_and_forget();
	pin_end(pin_folios(at, range_pages(kib), kib, index));
	share_and_write(at, kib, mask, false);
}

QUIRE_CASE_SIZES(cow, read_by_device, LARGE_SIZES)
{
	check_read_by_device(kib, MASK_FIRST, 0);
	check_read_by_device(kib, MASK_LAST, folio_pages(kib) - 1);
	/* The page before it is written to first, and those after it are shared */
	check_read_by_device(kib, MASK_LOW_HALF, folio_pages(kib) / 2 - 1);
}
