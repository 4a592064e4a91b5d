/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges of folios between guards, which the behaviour tests work on. Numbers of
 * pages are of 4 KiB; page n of a range filled with a seed holds page n of that
 * seed's pattern (pattern.h).
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

/* Pages of the smallest unit the cases mix states in. */
#define BLOCK		ARCH_BLOCK
#define PMD_PAGES	(PMD_SIZE / PAGE_SIZE)

#define SEED		0x5eedul	/* what ranges are filled with first */
#define SEED_NEW	0x2e3ful	/* what is written later */
#define SEED_CHILD	0xc41d1ul	/* what a child writes */

/*
 * Where ranges live: far from everything the C library maps. All aligned to
 * 1 GiB, and a fixed choice, so that alignment is what the case wants.
 */
#define SRC_BASE	((char *)0x2000000000ul)
#define DST_BASE	((char *)0x2080000000ul)
#define DST2_BASE	((char *)0x2100000000ul)

static inline char *page_at(char *addr, size_t page)
{
	return addr + page * PAGE_SIZE;
}

static inline size_t folio_pages(unsigned long kib)
{
	return kib * KIB / PAGE_SIZE;
}

/* How many pages a case works on: some folios, at least four blocks. */
size_t range_pages(unsigned long kib);

/*
 * Guarded private anonymous folios of kib, filled with SEED. Later faults bring
 * in single pages; and with large folios switched off again, khugepaged does
 * not replace a folio of 2 MiB that lies off its alignment.
 */
char *range_filled(char *at, size_t pages, unsigned long kib);
/* The same of shared memory (shmem), where folios of kib are to be had. */
char *range_shared(char *at, size_t pages, unsigned long kib);
/* Write a pattern, with folios of kib for what is absent there. */
void range_fill(char *at, size_t pages, unsigned long kib, uint64_t seed);
/* A guarded hole that nothing but the guards' pages is near of. */
char *range_hole(char *at, size_t pages);

/*
 * Folios of 2 MiB are tried mapped by PMD and mapped by PTEs, all others by
 * PTEs only.
 */
#define for_each_mapping(by_pte, kib) \
	for (bool by_pte = (kib) * KIB < PMD_SIZE, again_ = true; again_; \
	     again_ = !by_pte, by_pte = true)

/* Map folios of 2 MiB by single entries, so that pages can differ. */
void range_split_pmds(char *at, size_t pages);
/* mprotect(), or die. */
void range_protect(char *at, size_t pages, int prot);
/* Unmap a range (or what is left of it) and its guards; checks these first. */
void range_drop(char *at, size_t pages);

/* The guards' pages, on both sides of each range, are as they were made. */
void expect_guards(void);

/* mremap() to exactly `to`, or die. move_full(): all of its parameters. */
void move(char *from, size_t pages, char *to);
void move_full(char *from, size_t pages, size_t new_pages, int flags, char *to);

#endif
