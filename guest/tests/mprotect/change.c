// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect() of ranges and of their parts. What was written, by whom, and which
 * pages are shared decides afterwards who may write, and who sees it.
 */
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/share.h"
#include "proc/proc.h"
#include "tests/matrix/trial.h"

static void protect_masked(char *at, size_t pages, unsigned long kib,
			   const struct mask *mask, int prot)
{
	mask_protect(at, pages, kib, mask, prot);
}

static void expect_no_access(char *at)
{
	uint64_t word;

	EXPECT(probe_read(at, &word) && probe_write(at, 1),
	       "%p can be accessed", at);
}

/* Each change, of all pages or of those in the mask, by this CPU's TLB, too. */
static void check_masked(unsigned long kib, const struct mask *mask,
			 unsigned long unit)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);

	protect_masked(at, pages, unit, mask, PROT_READ);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, unit))
			expect_read_only(page_at(at, n), 1);
		else
			pattern_write_page(page_at(at, n), SEED, n);
	}
	expect_content(at, pages, SEED, 0);
	range_protect(at, pages, PROT_NONE);
	for (n = 0; n < pages; n++)
		expect_no_access(page_at(at, n));
	protect_masked(at, pages, unit, mask, PROT_READ);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, unit))
			expect_read_only(page_at(at, n), 1);
		else
			expect_no_access(page_at(at, n));
	}
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_protect(at, pages, PROT_READ);
	expect_read_only(at, pages);
	expect_content(at, pages, SEED_NEW, 0);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_writable(at, pages);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(mprotect, parts, ALL_SIZES)
{
	for_each_mask(mask) {
		check_masked(kib, mask, kib);
		check_masked(kib, mask, BLOCK_KIB);
	}
}

/* Pages from `from` to `to` can be written, and the others cannot, or reverse. */
static void expect_from_to(char *at, size_t pages, size_t from, size_t to,
			   bool writable)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if ((n >= from && n < to) == writable)
			pattern_write_page(page_at(at, n), SEED, n);
		else
			expect_read_only(page_at(at, n), 1);
	}
}

static void check_part(char *at, size_t pages, size_t from, size_t to)
{
	char *part = page_at(at, from);

	range_protect(part, to - from, PROT_READ);
	expect_from_to(at, pages, from, to, false);
	range_protect(part, to - from, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED, 0);
	pattern_write(at, pages * PAGE_SIZE, SEED);
	range_protect(at, pages, PROT_READ);
	range_protect(part, to - from, PROT_READ | PROT_WRITE);
	expect_from_to(at, pages, from, to, true);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED, 0);
	pattern_write(at, pages * PAGE_SIZE, SEED);
}

/* From any page of a block to any other: what is beside stays as it was. */
QUIRE_CASE_SIZES(mprotect, from_to, 16, 64, 256)
{
	size_t from, to, pages = range_pages(kib);

	for (from = 0; from < BLOCK; from += 5) {
		for (to = from + 1; to < 2 * BLOCK + 1; to += 6) {
			/* New folios: one that was unfolded may stay so. */
			char *at = range_by_ptes(kib);

			check_part(at, pages, from, to);
			range_drop(at, pages);
		}
	}
}

/* Exactly one block, or two: no other page is flushed from the TLB. */
TRIAL_CASE(mprotect, one_block, plain, 0, 4, 16, 64, 256)
{
	check_part(t->at, t->pages, BLOCK, 2 * BLOCK);
	check_part(t->at, t->pages, 0, BLOCK);
	check_part(t->at, t->pages, BLOCK, 3 * BLOCK);
}

/* Exclusive pages become writable without a fault, all others with one. */
TRIAL_CASE(mprotect, exclusive_writable, plain, MASKS, 4, 16, 64)
{
	size_t n, faults = 0;
	unsigned long count;

	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		sharer_looks(&t->peer, t->at, t->pages, t->kib, t->mask);
		peer_wait(&t->peer);
		peer_end(&t->peer);
	}
	range_protect(t->at, t->pages, PROT_READ);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	for (n = 0; n < t->pages; n++)
		faults += !masked(t->mask, n, t->kib);
	count = vmstat("pgfault");
	for (n = 0; n < t->pages; n++)
		*(volatile char *)page_at(t->at, n);
	count = vmstat("pgfault") - count;
	EXPECT(count < 16, "%lu faults of %zu reads", count, t->pages);
	count = vmstat("pgfault");
	for (n = 0; n < t->pages; n++)
		pattern_write_page(page_at(t->at, n), SEED_NEW, n);
	count = vmstat("pgfault") - count;
	EXPECT(count >= faults && count < faults + 16,
	       "%lu faults of %zu writes, %zu pages are shared", count, t->pages,
	       faults);
	peer_turn(&t->peer);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
}

/* Shared memory: clean entries need a fault before they are writable. */
QUIRE_CASE_SIZES(mprotect, shmem, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *at = range_shared(SRC_BASE, pages, kib);
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_content(at, pages, SEED_NEW, 0);
		pattern_write(at, pages * PAGE_SIZE, SEED_CHILD);
		peer_end(&peer);
	}
	range_protect(at, pages, PROT_READ);
	expect_read_only(at, pages);
	expect_content(at, pages, SEED, 0);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_writable(at, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child of shared memory");
	expect_content(at, pages, SEED_CHILD, 0);
}

/* Some pages absent, some in swap: only what is present is a block. */
TRIAL_CASE(mprotect, mixed_states, with_swap, MASKS, ALL_SIZES)
{
	size_t n;

	for (n = 0; n < t->pages; n++) {
		if (masked(t->mask, n, BLOCK_KIB) && n % 3 == 0)
			swap_out(page_at(t->at, n), 1);
	}
	range_protect(t->at, t->pages, PROT_READ);
	expect_content(t->at, t->pages, SEED, 0);
	expect_read_only(t->at, t->pages);
	range_protect(t->at, t->pages, PROT_NONE);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}
