// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a merged page must stay the same, wherever it comes from: VMAs
 * moved before the merge, private file mappings, large indexes, one index in
 * two places, an address that gets a new index.
 */
#include <sys/mman.h>

#include "ksm.h"
#include "proc/proc.h"
#include "process/map.h"

#define RESCANS	6u

static void pair_found(enum range_kind kind)
{
	struct mappings all = pair_merged(kind);

	expect_found(&all);
}

KSM_CASE(pair, pair_found(PLAIN))
KSM_CASE(pair_moved, pair_found(MOVED))
KSM_CASE(pair_file, pair_found(FILE_PAGES))
KSM_CASE(pair_file_moved, pair_found(FILE_MOVED))
KSM_CASE(pair_high_address, pair_found(HIGH))
KSM_CASE(pair_far_offset, pair_found(FAR))

/* ksmd scans again, with smart scan: its recorded index must not change. */
static void rescanned_found(enum range_kind kind)
{
	struct mappings all = pair_merged(kind);
	unsigned int n;

	for (n = 0; n < RESCANS; n++) {
		ksm_pass(1);
		expect_reached(&all);
	}
	expect_found(&all);
}

KSM_CASE(rescanned, rescanned_found(PLAIN))
KSM_CASE(rescanned_moved, rescanned_found(MOVED))
KSM_CASE(rescanned_file, rescanned_found(FILE_PAGES))
KSM_CASE(rescanned_high_address, rescanned_found(HIGH))
KSM_CASE(rescanned_far_offset, rescanned_found(FAR))

/* Part of a VMA moves, twice: both parts have one anon_vma. */
QUIRE_CASE(ksm, part_moved_twice)
{
	struct mappings all = { 0 };
	char *range;

	ksm_begin();
	range = range_make(PLAIN);
	range_move(page_of(range, MID - 1), 3, AWAY);
	range_move(page_of(AWAY, 1), 1, page_of(AWAY, 64));
	mappings_add(&all, NULL, page_of(AWAY, 64));
	mappings_add(&all, NULL, twin_make(0));
	mappings_merge(&all);
	expect_found(&all);
}

/*
 * The page moves away and its place is filled again. The new page has the same
 * index in the same anon_vma as the old one, at another address.
 */
QUIRE_CASE(ksm, same_index_twice)
{
	struct mappings all = { 0 };
	unsigned long vmas;
	char *range;

	ksm_begin();
	range = range_make(PLAIN);
	vmas = vma_count() + 1;	/* with the page that moved away */
	range_move(page_of(range, MID), 1, AWAY);
	mappings_add(&all, NULL, twin_make_at(page_of(range, MID)));
	EXPECT_EQ(vma_count(), vmas);	/* it is part of the range again */
	mappings_add(&all, NULL, AWAY);
	mappings_merge(&all);
	expect_found(&all);
}

/* The same by MREMAP_DONTUNMAP, which leaves an empty VMA behind. */
QUIRE_CASE(ksm, left_behind)
{
	size_t len = RANGE_PAGES * PAGE_SIZE;
	struct mappings all = { 0 };
	char *range;

	ksm_begin();
	range = range_make(PLAIN);
	if (mremap(range, len, len,
		   MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
		   AWAY) != AWAY)
		die_errno("cannot move and leave the mapping");
	act_write(page_of(range, MID), SAME);
	mappings_add(&all, NULL, page_of(range, MID));
	mappings_add(&all, NULL, page_of(AWAY, MID));
	mappings_merge(&all);
	expect_found(&all);
}

/* One page of a file, twice: the same index, two anon_vmas. */
QUIRE_CASE(ksm, file_mapped_twice)
{
	struct mappings all = { 0 };

	ksm_begin();
	mappings_add(&all, NULL, page_of(range_make_at(FILE_PAGES, HOME), MID));
	mappings_add(&all, NULL, page_of(range_make_at(FILE_PAGES, AWAY), MID));
	mappings_merge(&all);
	expect_found(&all);
}

/*
 * After the merge, another VMA takes the place; its page at this address has
 * another index. The next merge must record the new one.
 */
static void replaced(enum range_kind first, enum range_kind then)
{
	struct mappings all = pair_merged(first);

	if (then == MOVED) {
		range_make_at(PLAIN, ORIGIN);
		range_move(ORIGIN, RANGE_PAGES, HOME);
	} else {
		unmap(HOME, RANGE_PAGES * PAGE_SIZE);
		range_make_at(then, HOME);
	}
	mappings_merge(&all);
	expect_found(&all);
}

KSM_CASE(replaced_by_moved, replaced(PLAIN, MOVED))
KSM_CASE(replaced_by_file, replaced(PLAIN, FILE_PAGES))
KSM_CASE(moved_replaced_by_plain, replaced(MOVED, PLAIN))
KSM_CASE(file_replaced_by_far, replaced(FILE_PAGES, FAR))
