// SPDX-License-Identifier: GPL-2.0
/* Ranges whose pages are in different states. */
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/pattern.h"
#include "mremap.h"

/*
 * One character per page, or per 1/16 of a longer block: P a page of the first
 * folio, '.' absent, S in swap, s a small page of its own. A large folio from
 * which some pages were dropped
 * keeps the others; the small pages and swap entries between them are new. A
 * whole block comes before each kind of first page, so that a batch must not go
 * on into the next block.
 */
#define LETTERS	16u

static const char *const kinds[] = {
	"PPPPPPPPPPPPPPPP",
	"SPPPPPPPPPPPPPPP",
	"PPP.PSsPPPPSPPP.",
	"PPPPPPPPPPPPPPPP",
	".PPPPPPPPPPPPPPP",
	"PPPPPPPPPPPPPPPS",
	"PPPPPPPPPPPPPPPP",
	"SSSSSSSSSSSSSSSS",
	"sPSP.PsPSP.PsPSP",
	"PPPPPPPPPPPPPPPP",
	"................",
	"sPPPPPPPPPPPPPPP",
};

size_t mixed_pages(unsigned long kib)
{
	size_t pages = ARRAY_SIZE(kinds) * BLOCK;

	return range_pages(kib) > pages ? range_pages(kib) : pages;
}

static char kind_of(size_t page)
{
	size_t block = page / BLOCK % ARRAY_SIZE(kinds);

	return kinds[block][page % BLOCK / (BLOCK / LETTERS)];
}

void mix_states(char *addr, size_t pages)
{
	size_t n, run;

	for (n = 0; n < pages; n++) {
		if (kind_of(n) != 'P' &&
		    madvise(page_at(addr, n), PAGE_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED of page %zu", n);
	}
	for (n = 0; n < pages; n++) {
		if (kind_of(n) == 'S' || kind_of(n) == 's')
			pattern_write_page(page_at(addr, n), SEED, n);
	}
	for (n = 0; n < pages; n += run + 1) {
		/*
		 * In one call: MADV_PAGEOUT would split a folio of which it
		 * gets a part.
		 */
		for (run = 0; n + run < pages && kind_of(n + run) == 'S'; run++)
			;
		if (run)
			swap_out(page_at(addr, n), run);
	}
}

void expect_mixed_content(const char *addr, size_t pages)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (kind_of(n) == '.')
			expect_zero(addr + n * PAGE_SIZE, 1);
		else
			expect_content(addr + n * PAGE_SIZE, 1, SEED, n);
	}
}
