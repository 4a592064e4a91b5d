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

#include "base/uapi.h"
#include "cow.h"
#include "kernel/pin.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/child.h"

#define VALUE		0x99
#define IN_ORDER	6	/* so many pages in order, and a block becomes writable */

/* The written pages are soft-dirty, and no other is; later the others are. */
TRIAL_CASE(cow, soft_dirty, plain, MASKS, LARGE_SIZES)
{
	struct snapshot *now;
	size_t n;

	needs_soft_dirty();

	fork_and_forget();
	pagemap_clear_soft_dirty();
	cow_mark_all(t->at, t->pages, t->kib, t->mask, VALUE);
	now = snapshot(t->at, t->pages);
	for (n = 0; n < t->pages; n++)
		EXPECT(now->page[n].soft_dirty == masked(t->mask, n, t->kib),
		       "%s pages written: page %zu is %ssoft-dirty",
		       t->mask->name, n,
		       now->page[n].soft_dirty ? "" : "not ");
	free(now);
	/* Exclusive by now, half soft-dirty: the rest is noticed, too */
	fork_and_forget();
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
	now = snapshot(t->at, t->pages);
	for (n = 0; n < t->pages; n++)
		EXPECT(now->page[n].soft_dirty,
		       "page %zu was written and is not soft-dirty", n);
	free(now);
}

/* Protected by userfaultfd after the fork: each write to such a page stops. */
TRIAL_CASE(cow, wp_stops, plain, MASKS, ALL_SIZES)
{
	fork_and_forget();
	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
}

/*
 * Where protection ends at the write, without a message, do_wp_page() takes a
 * contpte block apart before it comes to the entries around the fault. Protection
 * of the other pages stays.
 */
TRIAL_CASE(cow, wp_async_of_one, plain, 0, 64, 256, 1024)
{
	size_t written = folio_pages(t->kib) / 2 + 3, n;

	t->uffd = uffd_open(WP_FEATURES | UFFD_FEATURE_WP_ASYNC);

	uffd_register_wp(t->uffd, t->at, t->pages * PAGE_SIZE);
	/* In one call, which leaves contpte blocks whole */
	uffd_writeprotect(t->uffd, t->at, t->pages * PAGE_SIZE, true);
	cow_mark(t->at, written, VALUE);
	/* A write that nothing stops would leave the bit set */
	cow_mark(t->at, written + 2, VALUE);
	for (n = 0; n < t->pages; n++)
		EXPECT_EQ(pagemap_page(page_at(t->at, n)).uffd_wp,
			  n != written && n != written + 2);
}

/* Some pages are in another VMA, with other rights, or gone. */
static void check_part(struct trial *t)
{
	size_t n;

	fork_and_forget();
	part_give(t->at, t->pages, t->kib, t->mask, t->part);
	/* The first writes to each folio, by the last pages that can be written */
	for (n = 0; n < t->pages; n += folio_pages(t->kib)) {
		size_t page = n + folio_pages(t->kib) - 1, i;

		while (page > n && masked(t->mask, page, t->kib))
			page--;
		for (i = page > n + IN_ORDER ? page - IN_ORDER : n; i <= page;
		     i++) {
			if (!masked(t->mask, i, t->kib))
				pattern_write_page(page_at(t->at, i), SEED, i);
		}
	}
	expect_part(t->at, t->pages, t->kib, t->mask, t->part);
}

QUIRE_CASE_FULL(cow, parts, 60000u, KTAP_SIZES(16, 64, 256, 2048))
{
	trials_run(&plain, PARTS, kib, check_part);
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
TRIAL_CASE(cow, neighbours_stay_clean, plain, 0, 64, 256, 1024)
{
	range_advise(t->at, t->pages, MADV_FREE);
	fork_and_forget();
	write_some(t->at, t->pages);
	expect_few(t->at, "Private_Dirty", t->pages);
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE);
	EXPECT_EQ(smaps_kib(t->at, "Private_Dirty"), t->pages * PAGE_SIZE /
		  KIB);
}

TRIAL_CASE(cow, neighbours_stay_old, plain, 0, 64, 256, 1024)
{
	fork_and_forget();
	write_file("/proc/self/clear_refs", "1");
	write_some(t->at, t->pages);
	expect_few(t->at, "Referenced", t->pages);
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE);
	EXPECT_EQ(smaps_kib(t->at, "Referenced"), t->pages * PAGE_SIZE / KIB);
}

/* A fork in which the child gets some pages only, or zeroes instead of them. */
static void check_not_all(struct trial *t, int advice, int undo)
{
	size_t n = 0;

	mask_advise(t->at, t->pages, t->kib, t->mask, advice);
	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		for (n = 0; n < t->pages; n++) {
			if (!masked(t->mask, n, t->kib))
				expect_content(page_at(t->at, n), 1, SEED, n);
			else if (advice == MADV_WIPEONFORK)
				expect_zero(page_at(t->at, n), 1);
		}
		write_shared(t->at, t->pages, t->kib, t->mask, SEED_CHILD);
		peer_turn(&t->peer);
		expect_shared(t->at, t->pages, t->kib, t->mask, SEED_CHILD);
		peer_end(&t->peer);
	}
	range_advise(t->at, t->pages, undo);
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE);
	peer_turn(&t->peer);
	cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE);
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that got some pages");
	cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
}

CALL_TRIAL_CASE(cow, dontfork, plain, MASKS,
		check_not_all(t, MADV_DONTFORK, MADV_DOFORK), ALL_SIZES)
CALL_TRIAL_CASE(cow, wipeonfork, plain, MASKS,
		check_not_all(t, MADV_WIPEONFORK, MADV_KEEPONFORK), ALL_SIZES)

/*
 * A second fork shares the pages that are not in the mask: writes to the others
 * of a block leave them read-only. The first page of each folio may be `marked`.
 */
static void share_and_write(struct trial *t, bool marked)
{
	size_t n;

	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		peer_wait(&t->peer);
		for (n = 0; n < t->pages; n++) {
			if (masked(t->mask, n, t->kib))
				continue;
			cow_expect_rest(t->at, n);
			if (!marked || n % folio_pages(t->kib))
				expect_content(page_at(t->at, n), 1, SEED, n);
		}
		peer_end(&t->peer);
	}
	cow_mark_all(t->at, t->pages, t->kib, t->mask, VALUE);
	cow_mark_all(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
	cow_expect(t->at, t->pages, t->kib, MASK_ALL, VALUE + 1);
}

/* All pages are exclusive before some are shared. */
TRIAL_CASE(cow, shared_neighbours, plain, MASKS, LARGE_SIZES)
{
	size_t n;

	fork_and_forget();
	for (n = 0; n < t->pages; n += folio_pages(t->kib))
		cow_mark(t->at, n, VALUE);
	share_and_write(t, true);
}

/* Pages that are dirty stay so when another page of the block is written. */
TRIAL_CASE(cow, neighbours_stay_dirty, plain, 0, 64, 256, 1024)
{
	fork_and_forget();
	write_some(t->at, t->pages);
	EXPECT_EQ(smaps_kib(t->at, "Private_Dirty"), t->pages * PAGE_SIZE /
		  KIB);
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
	at = range_by_ptes(kib);
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
TRIAL_CASE(cow, read_by_device, plain, MASKS, LARGE_SIZES)
{
	size_t index = mask_first(t->mask, t->kib);

	/* The page before it is written to first, and those after it are shared */
	if (t->mask == MASK_LOW_HALF)
		index = folio_pages(t->kib) / 2 - 1;
	fork_and_forget();
	pin_end(pin_folios(t->at, t->pages, t->kib, index));
	share_and_write(t, false);
}
