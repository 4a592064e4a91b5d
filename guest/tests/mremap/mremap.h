/* SPDX-License-Identifier: GPL-2.0 */
/* What the mremap cases share: what must hold after a move of a range. */
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

/* For masks of pages that are the same in each block, whatever the folios are. */
#define BLOCK_KIB	(BLOCK * PAGE_SIZE / KIB)

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
