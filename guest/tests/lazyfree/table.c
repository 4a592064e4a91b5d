// SPDX-License-Identifier: GPL-2.0
/* A batch of PTEs ends with its page table (tables.h). */
#include "kernel/tables.h"
#include "lazyfree.h"

static void dropped_or_kept(char *addr, size_t pages, size_t first)
{
	expect_old_or_zero(addr, pages, first);
}

QUIRE_CASE_SIZES(lazyfree, ends_with_table, 16, 64, 256, 1024)
{
	tables_as_neighbours(kib, lazy_free, dropped_or_kept);
}
