// SPDX-License-Identifier: GPL-2.0
/* Every byte comes back from swap, whatever the contents. */
#include <string.h>

#include "kernel/swap.h"
#include "memory/pattern.h"
#include "swapout.h"

#define PAGE_WORDS	(PAGE_SIZE / sizeof(uint64_t))
#define LAST_WORD	SIZE_MAX	/* of a page, however large */

/* Pages in the mask hold the pattern, all others are zero. */
static void fill_masked(char *at, size_t pages, unsigned long kib,
			const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib))
			memset(page_at(at, n), 0, PAGE_SIZE);
	}
}

static void expect_kinds(char *at, size_t pages, unsigned long kib,
			  const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			expect_content(page_at(at, n), 1, SEED, n);
		else
			expect_zero(page_at(at, n), 1);
	}
}

static void check_out_and_in(struct trial *t)
{
	fill_masked(t->at, t->pages, t->kib, t->mask);
	t->before = snapshot(t->at, t->pages);
	reclaim(t->at, t->pages, t->how);
	expect_in_swap(t->before, t->at, t->kib);
	expect_kinds(t->at, t->pages, t->kib, t->mask);
	expect_back(t->before, t->at);
	expect_writable(t->at, t->pages);
}

CALL_TRIAL_CASE(swapout, distinct, swapping, HOWS | MAPPINGS,
		check_out_and_in(t), ALL_SIZES)

TRIAL_CASE(swapout, zero, swapping, HOWS | MAPPINGS, ALL_SIZES)
{
	t->mask = &mask_none;
	check_out_and_in(t);
}

TRIAL_CASE(swapout, zero_and_distinct, swapping, MASKS, ALL_SIZES)
{
	t->how = (t->mask - masks) % NR_HOW;
	check_out_and_in(t);
}

/*
 * Where a folio has its only word that is not zero: at the ends of a page and of
 * groups of words, and in each place of a group of 32.
 */
static const size_t words[] = {
	0, 1, 2, 16, 30, 31, 32, 33, 45, 62, 63, 64, 74, 90, 103, 119, 127, 128,
	132, 148, 177, 206, 235, 251, 254, 255, 256, 257, 264, 280, 293, 309,
	338, 367, 383, 384, 396, 425, 441, 454, 470, 478, 479, 480, 481, 483,
	499, 508, 509, 510, LAST_WORD,
};

static uint64_t *only_word(char *at, size_t folio, unsigned long kib, size_t i,
			   const struct mask *mask)
{
	size_t n = folio * folio_pages(kib) + mask_first(mask, kib);
	size_t word = words[i % ARRAY_SIZE(words)];

	return (uint64_t *)page_at(at, n) +
	       (word == LAST_WORD ? PAGE_WORDS - 1 : word);
}

/* One word per folio, of which one byte is set: the folio is not zero. */
static void check_only_word(unsigned long kib, size_t round,
			    const struct mask *mask)
{
	size_t f, pages = range_pages(kib), folios = pages / folio_pages(kib);
	char *at = swapout_range(kib, true);

	memset(at, 0, pages * PAGE_SIZE);
	for (f = 0; f < folios; f++)
		((char *)only_word(at, f, kib, round + f, mask))[f % 8] = 1;
	page_out(at, pages * PAGE_SIZE);
	/* Of a folio that is split, pages of zeroes become the zero page */
	needs_whole_swap(kib);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	for (f = 0; f < folios; f++) {
		char *byte = (char *)only_word(at, f, kib, round + f, mask);

		EXPECT(byte[f % 8] == 1, "word %zu of the %s page is lost",
		       words[(round + f) % ARRAY_SIZE(words)], mask->name);
		byte[f % 8] = 0;
	}
	expect_zero(at, pages);
	range_drop(at, pages);
}

SWAPOUT_CASE(only_word, 4, 16, 64, 256)
{
	size_t i, folios = range_pages(kib) / folio_pages(kib), round;

	for (i = 0; i < 3; i++) {
		for (round = 0; round < ARRAY_SIZE(words); round += folios)
			check_only_word(kib, round, &masks[i]);
	}
}

/* Contents that were written and swapped out before must not come back. */
QUIRE_CASE_SIZES(swapout, again_and_again, ALL_SIZES)
{
	size_t round, pages = range_pages(kib);

	/* Little swap, so that slots and their cache are used again. */
	swapout_start(12 * PAGE_SCALE);
	for (round = 0; round < 6; round++) {
		char *at = swapout_range(round % 2 ? PAGE_KIB : kib, true);
		size_t nr = round % 2 ? range_pages(PAGE_KIB) : pages;

		pattern_write(at, nr * PAGE_SIZE, SEED + round);
		swap_out(at, nr);
		/*
		 * Half of it is swapped in, the rest is dropped while in swap.
		 */
		expect_content(at, nr / 2, SEED + round, 0);
		range_drop(at, nr);
	}
	swapout_end();
}

/* Pages are swapped in one by one, in another order than out, by writes. */
TRIAL_CASE(swapout, back_by_writes, swapping, HOWS, ALL_SIZES)
{
	size_t n;

	reclaim(t->at, t->pages, t->how);
	for (n = t->pages; n--; )
		page_at(t->at, n)[n * 37 % PAGE_SIZE] ^= 0x55;
	for (n = 0; n < t->pages; n++)
		page_at(t->at, n)[n * 37 % PAGE_SIZE] ^= 0x55;
	expect_content(t->at, t->pages, SEED, 0);
}
