// SPDX-License-Identifier: GPL-2.0
/* Moves of ranges that are read-only, PROT_NONE or locked. */
#include <sys/mman.h>

#include "mremap.h"
#include "proc/proc.h"
#include "process/map.h"

#define DST	page_at(DST_BASE, BLOCK)

MOVE_CASE(read_only, ALL_SIZES)
{
	range_protect(from, pages, PROT_READ);
	move_and_check(from, pages, to);
	expect_read_only(to, pages);
	expect_content(to, pages, SEED, 0);
	range_protect(to, pages, PROT_READ | PROT_WRITE);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/*
 * One half of each block is read-only, so VMAs meet inside a folio. Each is
 * moved by itself, because one call can move only one VMA.
 */
static void read_only_halves(unsigned long kib, size_t first, size_t shift)
{
	size_t n, half = BLOCK / 2, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST, shift), pages);

	for (n = first; n < pages; n += BLOCK)
		range_protect(page_at(from, n), half, PROT_READ);
	for (n = 0; n < pages; n += half)
		move(page_at(from, n), half, page_at(to, n));
	expect_content(to, pages, SEED, 0);
	for (n = 0; n < pages; n += half) {
		if (n % BLOCK == first)
			expect_read_only(page_at(to, n), half);
		else
			expect_writable(page_at(to, n), half);
	}
	for (n = first; n < pages; n += BLOCK)
		expect_content(page_at(to, n), half, SEED, n);
	expect_gone(from, pages);
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, read_only_half, ALL_SIZES)
{
	read_only_halves(kib, 0, 0);
	read_only_halves(kib, BLOCK / 2, 0);
	read_only_halves(kib, BLOCK / 2, 3);
}

/* Entries without access are present for the kernel, not for the CPU. */
MOVE_CASE(prot_none, ALL_SIZES)
{
	size_t n;
	uint64_t word;

	range_protect(from, pages, PROT_NONE);
	move_and_check(from, pages, to);
	for (n = 0; n < pages; n++)
		EXPECT(probe_read(page_at(to, n), &word),
		       "page %zu can be read, despite PROT_NONE", n);
	range_protect(to, pages, PROT_READ | PROT_WRITE);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

/*
 * Part of each block was PROT_NONE for a while; all of it is accessible again.
 */
MOVE_CASE(access_taken_and_given, ALL_SIZES)
{
	size_t n;

	for (n = 5; n < pages; n += BLOCK) {
		range_protect(page_at(from, n), 4, PROT_NONE);
		range_protect(page_at(from, n), 2, PROT_READ | PROT_WRITE);
		range_protect(page_at(from, n + 2), 2, PROT_READ);
		range_protect(page_at(from, n + 2), 2, PROT_READ | PROT_WRITE);
	}
	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}

QUIRE_CASE_SIZES(mremap, locked, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	unsigned long len = pages * PAGE_SIZE / KIB;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);

	if (mlock(from, pages * PAGE_SIZE))
		die_errno("mlock of %zu pages", pages);
	EXPECT_EQ(status_kib("VmLck"), len);
	EXPECT_EQ(smaps_kib(from, "Locked"), len);
	move_and_check(from, pages, to);
	EXPECT_EQ(status_kib("VmLck"), len);
	EXPECT_EQ(smaps_kib(to, "Locked"), len);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	range_unlock(to, pages);
	EXPECT_EQ(status_kib("VmLck"), 0);
	EXPECT_EQ(smaps_kib(to, "Locked"), 0);
}

/* Half of a block is locked, and only this half moves. */
QUIRE_CASE_SIZES(mremap, locked_half, ALL_SIZES)
{
	size_t half = BLOCK / 2, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST, half), half);

	if (mlock(page_at(from, half), half * PAGE_SIZE))
		die_errno("mlock of half a block");
	move(page_at(from, half), half, to);
	EXPECT_EQ(status_kib("VmLck"), half * PAGE_SIZE / KIB);
	EXPECT_EQ(smaps_kib(to, "Locked"), half * PAGE_SIZE / KIB);
	EXPECT_EQ(smaps_kib(from, "Locked"), 0);
	expect_content(from, half, SEED, 0);
	expect_content(to, half, SEED, half);
	expect_content(page_at(from, BLOCK), pages - BLOCK, SEED, BLOCK);
	unmap(to, half * PAGE_SIZE);
	EXPECT_EQ(status_kib("VmLck"), 0);
}
