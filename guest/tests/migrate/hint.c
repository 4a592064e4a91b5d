// SPDX-License-Identifier: GPL-2.0
/*
 * NUMA hints: the kernel makes entries PROT_NONE, and the next access makes all
 * entries of the folio accessible again, in runs. Each has its own bits
 * afterwards, not those of its neighbour.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/uffd.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/share.h"
#include "migrate.h"
#include "proc/proc.h"
#include "process/child.h"
#include "tests/matrix/operations.h"

/*
 * Each trial is in a process of its own: the kernel scans one that began earlier
 * only once a second. It has its hints by one scan, after the range is as wanted.
 */
static void in_child(void (*check)(struct trial *trial), struct trial *trial)
{
	pid_t pid;

	needs_nodes();
	if (!nodes_balance_often(true))
		SKIP("this kernel has no NUMA balancing");
	nodes_balance(false);
	pid = fork_child();
	if (!pid) {
		nodes_hint_other();
		check(trial);
		exit(STATUS_OK);
	}
	wait_child(pid, "a process that gets hints");
	nodes_balance_often(false);
}

static void with_mask(void (*check)(struct trial *trial), unsigned long kib,
		      const struct mask *mask)
{
	in_child(check, &(struct trial){ .kib = kib, .mask = mask });
}

static void for_masks(void (*check)(struct trial *trial), unsigned long kib)
{
	for_each_mask(mask)
		with_mask(check, kib, mask);
}

static void hint(size_t pages)
{
	nodes_give_hints(pages);
	nodes_balance(false);
}

static long minor_faults(void)
{
	struct rusage usage;

	/* The first call may fault by itself, after fork() */
	getrusage(RUSAGE_SELF, &usage);
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Not one for each folio. A page of this program may have had a hint, too. */
static void expect_few(long faults, size_t pages, unsigned long kib)
{
	EXPECT(faults < (long)(pages / folio_pages(kib)),
	       "%ld faults by pages that are accessible", faults);
}

/* Reads the page with that number in each folio. */
static void touch(const char *at, size_t pages, unsigned long kib, size_t page)
{
	uint64_t word;
	size_t n;

	for (n = page; n < pages; n += folio_pages(kib))
		EXPECT(!probe_read(at + n * PAGE_SIZE, &word),
		       "page %zu is not accessible", n);
}

static void check_once(struct trial *t)
{
	unsigned long kib = t->kib;
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	unsigned long hints;
	long faults;

	hint(pages);
	hints = vmstat("numa_hint_faults");
	touch(at, pages, kib, mask_first(t->mask, kib));
	hints = vmstat("numa_hint_faults") - hints;
	EXPECT(hints >= pages / folio_pages(kib), "only %lu faults by hints",
	       hints);
	faults = minor_faults();
	expect_content(at, pages, SEED, 0);
	pattern_write(at, pages * PAGE_SIZE, SEED_NEW);
	faults = minor_faults() - faults;
	expect_few(faults, pages, kib);
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
}

/* After one fault, all pages of the folio can be read and written without one. */
QUIRE_CASE_SIZES(migrate, hint_faults_once, ALL_SIZES)
{
	with_mask(check_once, kib, MASK_FIRST);
	with_mask(check_once, kib, MASK_MIDDLE);
	with_mask(check_once, kib, MASK_LAST);
}

static void write_same(volatile char *at)
{
	*at = *at;
}

/* A child has all pages but those in the mask, since after the hints. */
static void check_shared(struct trial *t)
{
	const struct mask *alone = t->mask;
	unsigned long kib = t->kib;
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct peer peer;
	long faults;

	hint(pages);
	if (!fork_without(&peer, at, pages, kib, alone)) {
		sharer_looks(&peer, at, pages, kib, alone);
		sharer_writes(&peer, at, pages, kib, alone);
	}
	touch(at, pages, kib, 0);
	faults = minor_faults();
	for (n = 0; n < pages; n++) {
		if (masked(alone, n, kib))
			write_same(page_at(at, n));
	}
	faults = minor_faults() - faults;
	expect_few(faults, pages, kib);
	mask_write(at, pages, kib, alone, SEED_NEW);
	write_shared(at, pages, kib, alone, SEED_NEW);
	peer_turn(&peer);
	peer_turn(&peer);
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
}

/* Exclusive pages are writable after the fault, and the others are not. */
QUIRE_CASE_SIZES(migrate, hint_shared, ALL_SIZES)
{
	for_masks(check_shared, kib);
}

#define RWP_FEATURES	(UFFD_FEATURE_RWP | UFFD_FEATURE_SIGBUS)

static void check_rwp(struct trial *t)
{
	const struct mask *mask = t->mask;
	unsigned long kib = t->kib;
	size_t n, hints = 0, pages = range_pages(kib);
	int uffd = uffd_open(RWP_FEATURES);
	char *at = range_by_ptes(kib);
	uint64_t word;

	uffd_register(uffd, at, pages * PAGE_SIZE, UFFDIO_REGISTER_MODE_RWP);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			uffd_rwprotect(uffd, page_at(at, n), PAGE_SIZE, true);
		else
			hints++;
	}
	hint(hints);
	for (n = 0; n < pages; n++) {
		bool stopped = probe_read(page_at(at, n), &word) == SIGBUS;

		EXPECT(stopped == masked(mask, n, kib),
		       "%s pages are protected: page %zu is %s", mask->name, n,
		       stopped ? "not accessible" : "accessible");
	}
	uffd_rwprotect(uffd, at, pages * PAGE_SIZE, false);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	close(uffd);
	range_drop(at, pages);
}

/* Protected against any access: a fault by a hint next to them changes nothing. */
QUIRE_CASE_SIZES(migrate, hint_rwp, LARGE_SIZES)
{
	close(uffd_open_or_skip(RWP_FEATURES));
	for_masks(check_rwp, kib);
}

static void act(struct trial *t)
{
	hint(t->pages);
	touch(t->at, t->pages, t->kib, 0);
}

const struct operation hinting = {
	.ground = &plain, .act = act, .apart = in_child,
};

static void check_part(struct trial *t)
{
	const struct mask *mask = t->mask;
	unsigned long kib = t->kib;
	size_t n = 0, pages = range_pages(kib);
	char *at = range_by_ptes(kib);

	hint(pages);
	part_give(at, pages, kib, mask, t->part);
	while (masked(mask, n, kib))
		n++;
	touch(at, pages, kib, n);
	expect_part(at, pages, kib, mask, t->part);
	range_drop(at, pages);
}

static void check_part_in_child(unsigned long kib, const struct mask *mask,
				const struct part *part)
{
	in_child(check_part, &(struct trial){ .kib = kib, .mask = mask, .part = part });
}

/* Some of each folio is in another mapping, or gone, when the fault comes. */
QUIRE_CASE_FULL(migrate, hint_part, 60000, KTAP_SIZES(16, 64))
{
	for_each_part(kib, check_part_in_child);
}

static void check_tables(struct trial *t)
{
	unsigned long kib = t->kib;
	size_t pages = range_pages(kib), low = folio_pages(kib) / 4;
	char *to = pmd_at(DST_BASE, 1) - low * PAGE_SIZE;
	char *at = range_by_ptes(kib);
	long faults;

	range_hole(to, pages);
	move(at, pages, to);
	hint(pages);
	touch(to, pages, kib, 0);
	touch(page_at(to, low), pages - low, kib, 0);
	faults = minor_faults();
	expect_content(to, pages, SEED, 0);
	faults = minor_faults() - faults;
	EXPECT(!faults, "%ld faults after that of each table", faults);
	expect_writable(to, pages);
	range_drop(to, pages);
	range_drop(at, pages);
}

/* A folio is in two page tables: each has one fault of its own. */
QUIRE_CASE_SIZES(migrate, hint_two_tables, LARGE_SIZES)
{
	with_mask(check_tables, kib, MASK_ALL);
}
