/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers of the mremap cases: checks after a move of a range. */
#ifndef QUIRE_TESTS_MREMAP_H
#define QUIRE_TESTS_MREMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/probe.h"
#include "proc/pagemap.h"
#include "tests/matrix/trial.h"

/*
 * expect_changed() after a move. With a userfaultfd that does not follow, uffd-wp
 * is dropped, too.
 */
#define MOVED	SOFT_DIRTY_SET

/*
 * A case with a filled range, folios of PMD_SIZE mapped by PMDs, and a hole to
 * which it moves. Ranges are not dropped: the case ends with its process.
 */
#define MOVE_CASE(name_, ...)						\
	static void move_##name_(char *from, size_t pages, char *to,	\
				 unsigned long kib);			\
	QUIRE_CASE_SIZES(mremap, name_, __VA_ARGS__)			\
	{								\
		size_t pages = range_pages(kib);			\
		char *from = range_filled(SRC_BASE, pages, kib);	\
									\
		move_##name_(from, pages,				\
			     range_hole(page_at(DST_BASE, BLOCK), pages), kib);	\
	}								\
	static void move_##name_(char *from, size_t pages, char *to,	\
				 unsigned long kib __attribute__((unused)))

/* Nothing is mapped there: pagemap is empty and every access faults. */
void expect_gone(const char *addr, size_t pages);
/* Mapped, but every PTE is empty: no page, no swap entry, no marker. */
void expect_empty(const char *addr, size_t pages);

/*
 * The usual case: moves the range, then checks all of the above: bits, the old
 * place, the counters of the memory, the guards. The caller checks the
 * contents.
 */
void move_and_check(char *from, size_t pages, char *to);

/*
 * Gives the pages of a filled range different states, block by block: whole,
 * first page absent, single pages swapped or absent, all swapped, and so on.
 * Absent pages read as zero afterwards. Needs swap.
 */
void mix_states(char *addr, size_t pages);
/* A length with room for all of these states, in folios of kib. */
size_t mixed_pages(unsigned long kib);
/* The contents of a range after mix_states(). */
void expect_mixed_content(const char *addr, size_t pages);

#endif
