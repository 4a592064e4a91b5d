// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect() of ranges and of their parts. What was written, by whom, and which
 * pages are shared decides afterwards who may write, and who sees it.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "memory/share.h"
#include "proc/proc.h"
#include "process/map.h"
#include "run/ktap.h"

#define SWAP_MIB	(64 * PAGE_SCALE)

static void protect_masked(char *at, size_t pages, unsigned long kib,
			   const struct mask *mask, int prot)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run)
		range_protect(page_at(at, n), run, prot);
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
static void expect_part(char *at, size_t pages, size_t from, size_t to,
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
	expect_part(at, pages, from, to, false);
	range_protect(part, to - from, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED, 0);
	pattern_write(at, pages * PAGE_SIZE, SEED);
	range_protect(at, pages, PROT_READ);
	range_protect(part, to - from, PROT_READ | PROT_WRITE);
	expect_part(at, pages, from, to, true);
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
QUIRE_CASE_SIZES(mprotect, one_block, 4, 16, 64, 256)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);

	check_part(at, pages, BLOCK, 2 * BLOCK);
	check_part(at, pages, 0, BLOCK);
	check_part(at, pages, BLOCK, 3 * BLOCK);
	range_drop(at, pages);
}

/*
 * Only the pages in the mask are exclusive, and no entry is writable. The
 * others must not become writable: the child would see what is written.
 */
static void check_shared(unsigned long kib, const struct mask *alone, int prot)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone)) {
		sharer_looks(&peer, at, pages, kib, alone);
		sharer_writes(&peer, at, pages, kib, alone);
	}
	range_protect(at, pages, prot);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	peer_turn(&peer);	/* the child checks */
	peer_turn(&peer);	/* and writes */
	expect_content(at, pages, SEED_NEW, 0);
	range_protect(at, pages, prot);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(mprotect, shared_read_only, ALL_SIZES)
{
	check_shared(kib, &mask_none, PROT_READ);
	for_each_mask(mask)
		check_shared(kib, mask, PROT_READ);
}

QUIRE_CASE_SIZES(mprotect, shared_no_access, ALL_SIZES)
{
	check_shared(kib, &mask_none, PROT_NONE);
	for_each_mask(mask)
		check_shared(kib, mask, PROT_NONE);
}

/* Exclusive pages become writable without a fault, all others with one. */
static void check_faults(unsigned long kib, const struct mask *alone)
{
	size_t n, faults = 0, pages = range_pages(kib);
	unsigned long before;
	char *at = range_by_ptes(kib);
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone)) {
		sharer_looks(&peer, at, pages, kib, alone);
		peer_wait(&peer);
		peer_end(&peer);
	}
	range_protect(at, pages, PROT_READ);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	for (n = 0; n < pages; n++)
		faults += !masked(alone, n, kib);
	before = vmstat("pgfault");
	for (n = 0; n < pages; n++)
		*(volatile char *)page_at(at, n);
	before = vmstat("pgfault") - before;
	EXPECT(before < 16, "%lu faults of %zu reads", before, pages);
	before = vmstat("pgfault");
	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(at, n), SEED_NEW, n);
	before = vmstat("pgfault") - before;
	EXPECT(before >= faults && before < faults + 16,
	       "%lu faults of %zu writes, %zu pages are shared", before, pages,
	       faults);
	peer_turn(&peer);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(mprotect, exclusive_writable, 4, 16, 64)
{
	for_each_mask(mask)
		check_faults(kib, mask);
}

/* MADV_FREE, then some pages written again: the dirty bits must survive. */
static void check_dirty(unsigned long kib, size_t written, int prot)
{
	size_t n, pages = range_pages(kib);
	size_t folio = kib < BLOCK_KIB ? BLOCK : folio_pages(kib);
	char *at = range_by_ptes(kib);

	if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
		die_errno("MADV_FREE of %zu pages", pages);
	for (n = written; n < pages; n += 2 * folio)
		pattern_write_page(page_at(at, n), SEED_NEW, n);
	range_protect(at, pages, prot);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	page_out(at, pages * PAGE_SIZE);
	for (n = 0; n < pages; n++) {
		if (n % (2 * folio) == written)
			expect_content(page_at(at, n), 1, SEED_NEW, n);
		else if (pattern_verify_zero(page_at(at, n), PAGE_SIZE) >= 0)
			expect_content(page_at(at, n), 1, SEED, n);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(mprotect, dirty_kept, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	check_dirty(kib, 0, PROT_READ);
	check_dirty(kib, 5, PROT_READ);
	check_dirty(kib, 15, PROT_NONE);
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
	range_drop(at, pages);
}

/* Some pages absent, some in swap: only what is present is a block. */
QUIRE_CASE_SIZES(mprotect, mixed_states, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	swap_on(SWAP_MIB);
	for_each_mask(mask) {
		char *at = range_by_ptes(kib);

		for (n = 0; n < pages; n++) {
			if (masked(mask, n, BLOCK_KIB) && n % 3 == 0)
				swap_out(page_at(at, n), 1);
		}
		range_protect(at, pages, PROT_READ);
		expect_content(at, pages, SEED, 0);
		expect_read_only(at, pages);
		range_protect(at, pages, PROT_NONE);
		range_protect(at, pages, PROT_READ | PROT_WRITE);
		expect_content(at, pages, SEED, 0);
		expect_writable(at, pages);
		range_drop(at, pages);
	}
}
