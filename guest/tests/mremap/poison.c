// SPDX-License-Identifier: GPL-2.0
/*
 * A page with a memory failure leaves an entry that is neither a page nor swap.
 * An access to it must raise SIGBUS, also after a move.
 */
#include <signal.h>

#include "memory/poison.h"
#include "mremap.h"

static void poison(char *page)
{
	if (!poison_page(page))
		die_errno("MADV_HWPOISON of %p", page);
}

QUIRE_CASE_SIZES(mremap, poisoned_page, 4, 64)
{
	size_t n, pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, BLOCK), pages);
	uint64_t word;

	poison(page_at(from, 3));
	poison(page_at(from, 2 * BLOCK));
	poison(page_at(from, 2 * BLOCK + 1));
	move_and_check(from, pages, to);
	for (n = 0; n < pages; n++) {
		if (n == 3 || n / 2 == BLOCK)
			EXPECT_EQ(probe_read(page_at(to, n), &word), SIGBUS);
		else
			expect_content(page_at(to, n), 1, SEED, n);
	}
}
