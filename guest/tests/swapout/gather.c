// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_PAGEOUT of many folios of 2 MiB, mapped by PMD, by PTEs and not at all,
 * in one call. The kernel may reclaim them one after the other or gather them
 * first: none is left out, and the kept ones are back on the LRU lists.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/pin.h"
#include "kernel/swap.h"
#include "swapout.h"

#define KIB_PMD		(PMD_SIZE / KIB)
#define GATHER_SWAP_MIB	(24 * PMD_SIZE / MIB)

static char *gather_range(size_t folios)
{
	char *at = range_by_pmds(folios);

	range_unlock(at, folios * PMD_PAGES);
	return at;
}

static void check_all_swapped(size_t folios)
{
	size_t pages = folios * PMD_PAGES;
	char *at = gather_range(folios);
	struct snapshot *before = snapshot(at, pages);

	page_out(at, pages * PAGE_SIZE);
	expect_in_swap(before, at, KIB_PMD);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE(swapout, gathered_all)
{
	static const size_t counts[] = { 1, 2, 7, 8, 9, 16, 17 };
	size_t i;

	swapout_start(GATHER_SWAP_MIB);
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		check_all_swapped(counts[i]);
	swapout_end();
}

enum kind { BY_PMD, BY_PTES, ABSENT, PINNED, NR_KINDS };

/*
 * What a folio of the range is in each round: 4 orders, so that each kind comes
 * first, comes last, and follows each other kind.
 */
static enum kind kind_of(size_t folio, unsigned int round)
{
	static const enum kind orders[NR_KINDS][NR_KINDS] = {
		{ BY_PMD, BY_PTES, ABSENT, PINNED },
		{ PINNED, ABSENT, BY_PMD, BY_PTES },
		{ BY_PTES, BY_PMD, PINNED, ABSENT },
		{ ABSENT, PINNED, BY_PTES, BY_PMD },
	};

	return orders[round][folio % NR_KINDS];
}

/* Pins the last folio of its kind, by one page, until pin_end(). */
static struct pin *make_kinds(char *at, size_t folios, unsigned int round,
			      size_t *pinned)
{
	size_t i;

	for (i = 0; i < folios; i++) {
		char *folio = pmd_at(at, i);

		if (kind_of(i, round) == BY_PTES)
			range_split_pmd(folio);
		else if (kind_of(i, round) == PINNED)
			*pinned = i;
		else if (kind_of(i, round) == ABSENT &&
			 madvise(folio, PMD_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED of a folio");
	}
	return pin_folios(pmd_at(at, *pinned), PMD_PAGES, KIB_PMD, 1);
}

static void expect_kind(char *at, size_t folio, unsigned int round, bool kept)
{
	char *addr = pmd_at(at, folio);
	size_t swapped = pagemap_swapped(addr, PMD_PAGES);
	size_t expected = PMD_PAGES;

	if (kept || kind_of(folio, round) == ABSENT)
		expected = 0;
	EXPECT(swapped == expected,
	       "round %u: of folio %zu, %zu pages are in swap, expected %zu",
	       round, folio, swapped, expected);
	EXPECT_EQ(pagemap_present(addr, PMD_PAGES), kept ? PMD_PAGES : 0);
}

static void expect_kind_content(char *at, size_t folio, unsigned int round)
{
	size_t first = folio * PMD_PAGES;

	if (kind_of(folio, round) == ABSENT)
		expect_zero(page_at(at, first), PMD_PAGES);
	else
		expect_content(page_at(at, first), PMD_PAGES, SEED, first);
}

static void check_kinds(size_t folios, unsigned int round)
{
	char *at = gather_range(folios);
	size_t i, pinned = 0;
	struct pin *pin = make_kinds(at, folios, round, &pinned);

	page_out(at, folios * PMD_SIZE);
	for (i = 0; i < folios; i++)
		expect_kind(at, i, round, i == pinned);
	/* The kept folio has no reference left over, and is on an LRU list. */
	pin_end(pin);
	page_out(at, folios * PMD_SIZE);
	for (i = 0; i < folios; i++)
		expect_kind(at, i, round, false);
	for (i = 0; i < folios; i++)
		expect_kind_content(at, i, round);
	range_drop(at, folios * PMD_PAGES);
}

QUIRE_CASE(swapout, gathered_among_others)
{
	unsigned int round;

	swapout_start(GATHER_SWAP_MIB);
	for (round = 0; round < NR_KINDS; round++) {
		check_kinds(NR_KINDS, round);
		check_kinds(3 * NR_KINDS, round);
	}
	swapout_end();
}

/* The call begins and ends inside folios, which are split. */
static void check_ends(size_t folios)
{
	size_t half = PMD_PAGES / 2, pages = folios * PMD_PAGES;
	size_t inside = pages - PMD_PAGES;
	char *at = gather_range(folios);

	page_out(page_at(at, half), inside * PAGE_SIZE);
	EXPECT_EQ(pagemap_present(at, half), half);
	EXPECT_EQ(pagemap_swapped(page_at(at, half), inside), inside);
	EXPECT_EQ(pagemap_present(page_at(at, half + inside), half), half);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}

QUIRE_CASE(swapout, gathered_between_parts)
{
	swapout_start(GATHER_SWAP_MIB);
	check_ends(2);
	check_ends(4);
	check_ends(10);
	swapout_end();
}
