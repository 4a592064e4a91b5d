// SPDX-License-Identifier: GPL-2.0
/* VMAs that are split, merged, unmapped and moved around the merged page. */
#include <sys/mman.h>

#include "ksm.h"
#include "process/map.h"

static void protect(size_t page, size_t pages, int prot)
{
	if (mprotect(page_of(HOME, page), pages * PAGE_SIZE, prot))
		die_errno("cannot protect pages from %zu", page);
}

/* The checks that do not end with the pages swapped out. */
static void expect_there(const struct mappings *all)
{
	expect_same(all);
	expect_reached(all);
	expect_migrated(all);
}

KSM_CASES(split_around)
{
	struct mappings all = pair_merged(kind);

	protect(MID - 1, 1, PROT_READ);
	protect(MID + 1, 1, PROT_READ);
	expect_there(&all);
	protect(MID - 1, 1, PROT_READ | PROT_WRITE);
	protect(MID + 1, 1, PROT_READ | PROT_WRITE);
	expect_there(&all);
	protect(MID, 1, PROT_READ);
	expect_found(&all);
}

/* Split before the merge; then the parts become one VMA again. */
KSM_CASES(split_before_merge)
{
	struct mappings all = pair_make(kind);

	protect(0, MID, PROT_READ);
	protect(MID + 1, 1, PROT_NONE);
	mappings_merge(&all);
	expect_there(&all);
	protect(0, RANGE_PAGES, PROT_READ | PROT_WRITE);
	expect_there(&all);
	ksm_pass(2);
	expect_found(&all);
}

KSM_CASES(neighbours_unmapped)
{
	struct mappings all = pair_merged(kind);

	unmap(HOME, MID * PAGE_SIZE);
	expect_there(&all);
	unmap(page_of(HOME, MID + 1), (RANGE_PAGES - MID - 1) * PAGE_SIZE);
	expect_there(&all);
	ksm_pass(2);
	expect_found(&all);
}

KSM_CASES(neighbours_moved)
{
	struct mappings all = pair_merged(kind);

	range_move(HOME, MID, AWAY);
	range_move(page_of(HOME, MID + 1), 4, page_of(AWAY, 64));
	expect_there(&all);
	range_move(AWAY, MID, HOME);
	range_move(page_of(AWAY, 64), 4, page_of(HOME, MID + 1));
	expect_there(&all);
	ksm_pass(2);
	expect_found(&all);
}

/* VMAs of other memory become neighbours of the page. */
KSM_CASES(neighbours_replaced)
{
	struct mappings all = pair_merged(kind);

	range_make_at(PLAIN, ORIGIN);
	act_write(page_of(ORIGIN, MID), OTHER);
	range_move(page_of(ORIGIN, MID + 1), 2, page_of(HOME, MID + 1));
	range_move(page_of(ORIGIN, 1), 2, page_of(HOME, MID - 2));
	expect_there(&all);
	ksm_pass(2);
	expect_found(&all);
}

KSM_CASES(grown)
{
	size_t len = RANGE_PAGES * PAGE_SIZE;
	struct mappings all = pair_merged(kind);

	if (mremap(HOME, len, 2 * len, 0) != HOME)
		die_errno("cannot grow the range where it is");
	if (kind != FILE_PAGES)	/* the file ends where the range did */
		act_write(page_of(HOME, RANGE_PAGES), OTHER);
	expect_there(&all);
	ksm_pass(2);
	expect_found(&all);
}

/* A VMA that grows downwards starts at ever smaller indexes. */
QUIRE_CASE(ksm, grown_downwards)
{
	struct mappings all = { 0 };
	char *top = page_of(HOME, RANGE_PAGES - 1);

	ksm_begin();
	map_or_die(top, PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED,
		   -1, 0);
	act_write(top, SAME);
	range_mergeable(top, 1);
	mappings_add(&all, NULL, top);
	mappings_add(&all, NULL, twin_make(0));
	mappings_merge(&all);
	act_write(top - 2 * PAGE_SIZE, OTHER);
	expect_there(&all);
	ksm_pass(2);
	expect_found(&all);
}

/* First and last page of a VMA: an index beside them is in no VMA. */
static void edge(enum range_kind kind, size_t page)
{
	struct mappings all = { 0 };
	char *range = range_make(kind);

	act_write(page_of(range, MID), OTHER);
	act_write(page_of(range, page), SAME);
	mappings_add(&all, NULL, page_of(range, page));
	mappings_add(&all, NULL, twin_make(0));
	mappings_merge(&all);
	mappings_add_fork(&all, NULL, worker_fork(NULL));
	expect_found(&all);
}

KSM_CASES(first_page) { edge(kind, 0); }
KSM_CASES(last_page) { edge(kind, RANGE_PAGES - 1); }
