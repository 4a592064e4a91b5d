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

static void (*wanted)(struct trial *trial);

static void check_on_range(struct trial *t)
{
	trial_begin(t, range_by_ptes(t->kib), range_pages(t->kib));
	wanted(t);
	trial_end(t);
}

static void run_apart(struct trial *t)
{
	in_child(check_on_range, t);
}

static void each_trial(void (*check)(struct trial *trial), unsigned int differ,
		       unsigned long kib)
{
	wanted = check;
	trials_each((struct trial){ .kib = kib }, differ, run_apart);
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
	unsigned long hints;
	long faults;

	hint(t->pages);
	hints = vmstat("numa_hint_faults");
	touch(t->at, t->pages, t->kib, mask_first(t->mask, t->kib));
	hints = vmstat("numa_hint_faults") - hints;
	EXPECT(hints >= t->pages / folio_pages(t->kib),
	       "only %lu faults by hints", hints);
	faults = minor_faults();
	expect_content(t->at, t->pages, SEED, 0);
	pattern_write(t->at, t->pages * PAGE_SIZE, SEED_NEW);
	faults = minor_faults() - faults;
	expect_few(faults, t->pages, t->kib);
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

/* After one fault, all pages of the folio can be read and written without one. */
QUIRE_CASE_SIZES_CALL(migrate, hint_faults_once, each_trial(check_once, PLACES, kib), ALL_SIZES)

static void write_same(volatile char *at)
{
	*at = *at;
}

/* A child has all pages but those in the mask, since after the hints. */
static void check_shared(struct trial *t)
{
	size_t n;
	long faults;

	hint(t->pages);
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		sharer_looks(&t->peer, t->at, t->pages, t->kib, t->mask);
		sharer_writes(&t->peer, t->at, t->pages, t->kib, t->mask);
	}
	touch(t->at, t->pages, t->kib, 0);
	faults = minor_faults();
	for (n = 0; n < t->pages; n++) {
		if (masked(t->mask, n, t->kib))
			write_same(page_at(t->at, n));
	}
	faults = minor_faults() - faults;
	expect_few(faults, t->pages, t->kib);
	mask_write(t->at, t->pages, t->kib, t->mask, SEED_NEW);
	write_shared(t->at, t->pages, t->kib, t->mask, SEED_NEW);
	peer_turn(&t->peer);
	peer_turn(&t->peer);
	expect_content(t->at, t->pages, SEED_NEW, 0);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
}

/* Exclusive pages are writable after the fault, and the others are not. */
QUIRE_CASE_SIZES_CALL(migrate, hint_shared, each_trial(check_shared, MASKS, kib), ALL_SIZES)

#define RWP_FEATURES	(UFFD_FEATURE_RWP | UFFD_FEATURE_SIGBUS)

static void check_rwp(struct trial *t)
{
	size_t n, hints = 0;
	t->uffd = uffd_open(RWP_FEATURES);
	uint64_t word;

	uffd_register(t->uffd, t->at, t->pages * PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_RWP);
	for (n = 0; n < t->pages; n++) {
		if (masked(t->mask, n, t->kib))
			uffd_rwprotect(t->uffd, page_at(t->at, n), PAGE_SIZE,
				       true);
		else
			hints++;
	}
	hint(hints);
	for (n = 0; n < t->pages; n++) {
		bool stopped = probe_read(page_at(t->at, n), &word) == SIGBUS;

		EXPECT(stopped == masked(t->mask, n, t->kib),
		       "%s pages are protected: page %zu is %s", t->mask->name,
			n, stopped ? "not accessible" : "accessible");
	}
	uffd_rwprotect(t->uffd, t->at, t->pages * PAGE_SIZE, false);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}

/* Protected against any access: a fault by a hint next to them changes nothing. */
QUIRE_CASE_SIZES(migrate, hint_rwp, LARGE_SIZES)
{
	close(uffd_open_or_skip(RWP_FEATURES));
	each_trial(check_rwp, MASKS, kib);
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
	size_t n = 0;

	hint(t->pages);
	part_give(t->at, t->pages, t->kib, t->mask, t->part);
	while (masked(t->mask, n, t->kib))
		n++;
	touch(t->at, t->pages, t->kib, n);
	expect_part(t->at, t->pages, t->kib, t->mask, t->part);
}

/* Some of each folio is in another mapping, or gone, when the fault comes. */
QUIRE_CASE_FULL(migrate, hint_part, 60000, KTAP_SIZES(16, 64))
{
	each_trial(check_part, PARTS, kib);
}

static void check_tables(struct trial *t)
{
	size_t low = folio_pages(t->kib) / 4;
	char *from = t->at;
	long faults;

	trial_goes(t, pmd_at(DST_BASE, 1) - low * PAGE_SIZE);
	move(from, t->pages, t->at);
	hint(t->pages);
	touch(t->at, t->pages, t->kib, 0);
	touch(page_at(t->at, low), t->pages - low, t->kib, 0);
	faults = minor_faults();
	expect_content(t->at, t->pages, SEED, 0);
	faults = minor_faults() - faults;
	EXPECT(!faults, "%ld faults after that of each table", faults);
	expect_writable(t->at, t->pages);
}

/* A folio is in two page tables: each has one fault of its own. */
QUIRE_CASE_SIZES_CALL(migrate, hint_two_tables,
		      each_trial(check_tables, 0, kib), LARGE_SIZES)
