/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers of the mremap cases: checks after a move of a range. */
#ifndef QUIRE_TESTS_MREMAP_H
#define QUIRE_TESTS_MREMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/expect.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "run/ktap.h"

/* For masks that are the same in each block, whatever the size of folios. */

/* What a move does to uffd-wp bits and markers. */
enum wp_rule {
	WP_KEPT,	/* a uffd with UFFD_FEATURE_EVENT_REMAP, or none at all */
	WP_DROPPED,	/* a uffd without: bits cleared, markers gone */
};

/*
 * Each page of `before` is now at addr: the same page or swap entry, with the
 * same bits. Soft-dirty is set on every entry, if the kernel tracks it.
 */
void expect_moved(const struct snapshot *before, const char *addr,
		  enum wp_rule rule);
/* The same pages with the same bits are still at addr (soft-dirty included). */
void expect_unmoved(const struct snapshot *before, const char *addr);

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
