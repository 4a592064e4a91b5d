// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel may look for zeroes with vector registers. What a program has in
 * them is still there after its memory was swapped out.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "swapout.h"

static char before[PAGE_SIZE], after[PAGE_SIZE];

SWAPOUT_CASE(vectors_kept, ALL_SIZES)
{
	size_t i, pages = range_pages(kib);

	for (i = 0; i < 2; i++) {
		char *at = swapout_range(kib, true);
		const long arg[] = {
			(long)at, (long)(pages * PAGE_SIZE), MADV_PAGEOUT,
		};

		if (i)
			memset(at, 0, pages * PAGE_SIZE);
		pattern_write_page(before, SEED_NEW, i);
		EXPECT_EQ(arch_call_with_vectors(SYS_madvise, arg, before, after),
			  0);
		EXPECT(!memcmp(before, after, ARCH_VECTOR_BYTES),
		       "the vector registers have changed");
		EXPECT_EQ(pagemap_swapped(at, pages), pages);
		range_drop(at, pages);
	}
}
