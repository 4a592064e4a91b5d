/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes of memory, as this kernel has them, and two macros that every file
 * needs.
 */
#ifndef QUIRE_UNITS_H
#define QUIRE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define KIB		((size_t)1024)
#define MIB		(1024 * KIB)
#define GIB		(1024 * MIB)

/* Addresses have 32 bits. */
#define NARROW		(sizeof(long) == 4)
/* An address for a range, where they have 47 bits or more, and where 32. */
#define PLACE(wide, narrow) ((char *)(uintptr_t)(NARROW ? narrow##ull : wide##ull))

/* Of a page, of what a PMD maps, of a block of PTEs: units_read(). */
struct units {
	size_t page, pmd, block;
};

extern struct units units;

#define PAGE_SIZE	units.page
#define PMD_SIZE	units.pmd
#define PAGE_KIB	(PAGE_SIZE / KIB)
#define PMD_KIB		(PMD_SIZE / KIB)
#define BLOCK_KIB	(units.block / KIB)
/* How many times larger than 4 KiB pages are, for sizes that are numbers of pages. */
#define PAGE_SCALE	(PAGE_SIZE / (4 * KIB))

/* For arrays: 64 KiB pages have the largest tables. */
#define MOST_PAGE_SIZE	(64 * KIB)
#define MOST_PMD_PAGES	8192ul

/*
 * Asks the kernel for the sizes. Before, they are those of 4 KiB pages. Blocks
 * are arm64's contpte blocks; elsewhere, any number of pages will do.
 */
void units_read(void);

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a)	(((x) + (a) - 1) / (a) * (a))

#endif
