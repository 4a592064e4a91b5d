/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges of folios between guards, which the behaviour tests work on. Numbers
 * are of pages. After filling with a seed, page n of a range holds
 * page n of that seed's pattern (pattern.h).
 */
#ifndef QUIRE_RANGE_H
#define QUIRE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/units.h"

#define ALL_SIZES	4, 16, 64, 256, 1024, 2048
#define LARGE_SIZES	16, 64, 256, 1024, 2048

/* The pages of the smallest unit in which the cases mix states. */
#define BLOCK		(units.block / PAGE_SIZE)
#define PMD_PAGES	(PMD_SIZE / PAGE_SIZE)

#define SEED		0x5eedul	/* the first contents of ranges */
#define SEED_NEW	0x2e3ful	/* written later */
#define SEED_CHILD	0xc41d1ul	/* written by a child */

/*
 * The addresses of ranges, far from the mappings of the C library. All are
 * aligned to 1 GiB, or to 512 MiB, and fixed, so that the case decides the alignment.
 */
#define SRC_BASE	PLACE(0x2000000000, 0x40000000)
#define DST_BASE	PLACE(0x2080000000, 0x60000000)
#define DST2_BASE	PLACE(0x2100000000, 0x80000000)

static inline char *page_at(char *addr, size_t page)
{
	return addr + page * PAGE_SIZE;
}

static inline size_t folio_pages(unsigned long kib)
{
	return kib * KIB / PAGE_SIZE;
}

/* The folio of PMD_SIZE with that number in a range of such folios. */
static inline char *pmd_at(char *addr, size_t number)
{
	return page_at(addr, number * PMD_PAGES);
}

/* SKIP()s the case if so many bytes are more than a third of the memory. */
void must_fit(size_t len);
/* How many pages a case works on: some folios, at least four blocks. */
size_t range_pages(unsigned long kib);

/*
 * Guarded private anonymous folios of kib, filled with SEED. Later faults
 * allocate single pages. Large folios are disabled again, so that khugepaged
 * does not replace a folio of PMD_SIZE that is not aligned.
 */
char *range_filled(char *at, size_t pages, unsigned long kib);
/*
 * The same in shared memory (shmem), with folios of kib if the kernel has them.
 */
char *range_shared(char *at, size_t pages, unsigned long kib);
/* Writes a pattern; absent pages get folios of kib. */
void range_fill(char *at, size_t pages, unsigned long kib, uint64_t seed);
/* range_filled() at SRC_BASE, with so many folios of PMD_SIZE, mapped by PMDs. */
char *range_by_pmds(size_t folios);
/*
 * range_filled() at SRC_BASE of range_pages(kib). Folios of PMD_SIZE are mapped by
 * PMDs or, with by_pte, by PTEs.
 */
char *range_of(unsigned long kib, bool by_pte);
char *range_by_ptes(unsigned long kib);
/* PMDs map all of the range, or the case fails. */
void range_assert_pmds(char *at, size_t pages);
/* An unmapped range between its guards. */
char *range_hole(char *at, size_t pages);

/*
 * Folios of PMD_SIZE are tested mapped by PMD and mapped by PTEs, all others by
 * PTEs only.
 */
#define for_each_mapping(by_pte, kib) \
	for (bool by_pte = (kib) * KIB < PMD_SIZE, again_ = true; again_; \
	     again_ = !by_pte, by_pte = true)

/*
 * Splits the PMDs of folios of PMD_SIZE, so that their pages can differ. _pmd: the
 * one at addr.
 */
void range_split_pmd(char *addr);
void range_split_pmds(char *at, size_t pages);
/* mprotect(), madvise(), munlock(), or die. */
void range_protect(char *at, size_t pages, int prot);
void range_advise(char *at, size_t pages, int advice);
void range_unlock(char *at, size_t pages);
/*
 * Checks the guards, then unmaps a range (or what is left of it) and its
 * guards.
 */
void range_drop(char *at, size_t pages);

/*
 * The pages of the guards, on both sides of each range, are unchanged. Does not
 * count as a check of the case.
 */
void expect_guards(void);

/* mremap() to exactly `to`, or die. move_full() takes all of its parameters. */
void move(char *from, size_t pages, char *to);
void move_full(char *from, size_t pages, size_t new_pages, int flags, char *to);

#endif
