/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the mremap cases share: ranges of folios between guards, moves, and
 * what must hold afterwards. Numbers of pages are of 4 KiB; page n of a range
 * filled with a seed holds page n of that seed's pattern (pattern.h).
 */
#ifndef QUIRE_TESTS_MREMAP_H
#define QUIRE_TESTS_MREMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktap.h"
#include "pagemap.h"
#include "probe.h"

#define ALL_SIZES	4, 16, 64, 256, 1024, 2048
#define LARGE_SIZES	16, 64, 256, 1024, 2048

/*
 * Pages of the smallest unit the cases mix states in: one arm64 contpte block
 * (16 entries with 4 KiB pages); elsewhere just a number.
 */
#define BLOCK		16ul
#define PMD_PAGES	(PMD_SIZE / PAGE_SIZE)

#define SEED		0x5eedul	/* what ranges are filled with first */
#define SEED_NEW	0x2e3ful	/* what is written after a move */

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

/*
 * How many pages a case moves: some folios of that size, at least four blocks.
 */
size_t range_pages(unsigned long kib);

/*
 * Guarded private anonymous folios of kib, filled with SEED. Later faults bring
 * in single pages; and with large folios switched off again, khugepaged does
 * not replace a folio of 2 MiB that lies off its alignment.
 */
char *range_filled(char *at, size_t pages, unsigned long kib);
/* Write a pattern, with folios of kib for what is absent there. */
void range_fill(char *at, size_t pages, unsigned long kib, uint64_t seed);
/* A guarded hole that nothing but the guards' pages is near of. */
char *range_hole(char *at, size_t pages);

/* Map folios of 2 MiB by single entries, so that pages can differ. */
void range_split_pmds(char *at, size_t pages);
/* Unmap a range (or what is left of it) and its guards; checks these first. */
void range_drop(char *at, size_t pages);

/* The guards' pages, on both sides of each range, are as they were made. */
void expect_guards(void);

/*
 * Stay on one CPU, so that the pages of this process are not hidden from
 * reclaim in the per-CPU lists of another one.
 */
void stay_on_cpu(unsigned int cpu);
unsigned int cpu_count(void);

/* Swap these pages out, every one, or die. */
void swap_out(char *addr, size_t pages);

/* mremap() to exactly `to`, or die. move_full(): all of its parameters. */
void move(char *from, size_t pages, char *to);
void move_full(char *from, size_t pages, size_t new_pages, int flags, char *to);

/* pagemap of a range at one time. Free with free(). */
struct snapshot {
	size_t pages;
	struct page_state page[];
};

struct snapshot *snapshot(const char *addr, size_t pages);

/* What a move does to uffd-wp bits and markers. */
enum wp_rule {
	WP_KEPT,	/* a uffd with UFFD_FEATURE_EVENT_REMAP, or none at all */
	WP_DROPPED,	/* a uffd without: bits cleared, markers gone */
};

/*
 * Each page of `before` is now at addr: the same page or swap entry, with the
 * same bits; soft-dirty set on every entry, where the kernel has soft-dirty.
 */
void expect_moved(const struct snapshot *before, const char *addr,
		  enum wp_rule rule);
/* The same pages with the same bits are still at addr (soft-dirty included). */
void expect_unmoved(const struct snapshot *before, const char *addr);

/* Nothing is mapped there: pagemap is empty and every access faults. */
void expect_gone(const char *addr, size_t pages);
/* Mapped, but no entry: neither a page nor swap nor a marker. */
void expect_empty(const char *addr, size_t pages);

/* Pages hold the pattern of seed, the first one that of page `first`. */
void expect_content(const char *addr, size_t pages, uint64_t seed, size_t first);
void expect_zero(const char *addr, size_t pages);
/* Writing works on each page, and what is written stays there. */
void expect_writable(char *addr, size_t pages);
/* Each page can be read but not written. */
void expect_read_only(char *addr, size_t pages);

/*
 * The usual case: move, then everything above: bits, the old place gone, the
 * memory counters of the mapping, guards. Content is left to the caller.
 */
void move_and_check(char *from, size_t pages, char *to);

/*
 * Give the pages of a filled range different states, a block at a time: whole,
 * first page absent, single pages swapped or absent, all swapped, and so on.
 * Pages that are absent afterwards read as zero. Needs swap.
 */
void mix_states(char *addr, size_t pages);
/* A length that has room for all of these, in folios of kib. */
size_t mixed_pages(unsigned long kib);
/* Content of a range after mix_states(). */
void expect_mixed_content(const char *addr, size_t pages);

#endif
