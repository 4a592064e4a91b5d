/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the lazyfree cases share. Ranges, patterns, guards and snapshots are
 * those of the mremap cases (mremap.h): page n of a fresh range holds page n
 * of the pattern SEED, and what is written after MADV_FREE is SEED_NEW.
 *
 * Cases named patched_... hold what stock Linux 6.12 is known not to do. All
 * others hold on stock, too.
 */
#ifndef QUIRE_TESTS_LAZYFREE_H
#define QUIRE_TESTS_LAZYFREE_H

#include <stdbool.h>
#include <stddef.h>

#include "hold.h"
#include "mremap.h"

#define SWAP_MIB	64
#define SEED_CHILD	0xc41d1ul

static inline size_t folio_pages(unsigned long kib)
{
	return kib * KIB / PAGE_SIZE;
}

/*
 * Folios of 2 MiB are tried mapped by PMD and mapped by PTEs, all others by
 * PTEs only.
 */
#define for_each_mapping(by_pte, kib) \
	for (bool by_pte = (kib) * KIB < PMD_SIZE, again_ = true; again_; \
	     again_ = !by_pte, by_pte = true)

/* Which pages of a folio of nr pages something happens to. */
struct mask {
	const char *name;
	bool (*has)(size_t page, size_t nr);
};

/* first, last, one in the middle, every other, all but first/last, half, all */
extern const struct mask lazy_masks[];
#define NR_MASKS	10u
#define MASK_ALL	(&lazy_masks[NR_MASKS - 1])

/* Page n counts from the start of a range of whole folios. */
static inline bool masked(const struct mask *mask, size_t page,
			  unsigned long kib)
{
	return mask->has(page % folio_pages(kib), folio_pages(kib));
}

/*
 * range_filled() folios at SRC_BASE, in a memory cgroup, given up by MADV_FREE:
 * still mapped and whole, but clean. range_pages(kib) of them.
 */
char *lazy_range(unsigned long kib, bool by_pte);
/* The same without MADV_FREE; and that, checked to have made all lazyfree. */
char *lazy_filled(unsigned long kib, bool by_pte);
void lazy_free(char *addr, size_t pages);

/* Write SEED_NEW to the pages in the mask. */
void lazy_rewrite(char *addr, size_t pages, unsigned long kib,
	     const struct mask *mask);

/* Who reclaims; what differs is in memcg.h. */
enum how { BY_PAGEOUT, BY_MEMCG, NR_HOW };

/*
 * Try to reclaim the range (BY_MEMCG: all of the cgroup), once its pages count
 * as not accessed, in this process and, if pid is not 0, in that one.
 */
void lazy_reclaim(char *addr, size_t pages, enum how how);
void lazy_reclaim_shared(pid_t pid);

/* One page of each folio of the range: the one at that index. */
struct hold lazy_hold(char *addr, size_t pages, unsigned long kib,
			size_t index);

/* How many of the pages are present and not lazyfree (PG_swapbacked). */
size_t lazy_swapbacked(const char *addr, size_t pages);

/* No page and no swap entry there; and reads give zero. */
void expect_dropped(const char *addr, size_t pages);
/* Each page is zero as a whole, or page first + n of SEED as a whole. */
void expect_old_or_zero(const char *addr, size_t pages, size_t first);
/* Pages in the mask hold SEED_NEW, the others are as in expect_old_or_zero(). */
void expect_survivors(const char *addr, size_t pages, unsigned long kib,
		      const struct mask *mask);
/*
 * All that pagemap shows of each page is as before. _or_dropped: or the page is
 * gone, which pages in the mask must not.
 */
void expect_entries(const struct snapshot *before, const char *addr);
void expect_entries_or_dropped(const struct snapshot *before, const char *addr,
			    unsigned long kib, const struct mask *mask);

#endif
