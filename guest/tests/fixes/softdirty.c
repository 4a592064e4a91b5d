// SPDX-License-Identifier: GPL-2.0
/*
 * Soft-dirty of pages whose entries are made anew: because their page table
 * moves, or because khugepaged collapses them.
 */
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/khugepaged.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/ktap.h"

static void expect_soft_dirty(char *at, size_t nr, bool dirty)
{
	size_t n;

	for (n = 0; n < nr; n++)
		EXPECT(pagemap_page(page_at(at, n)).soft_dirty == dirty,
		       "page %zu is %ssoft-dirty", n, dirty ? "not " : "");
}

/*
 * Moves whole page tables: the range begins and ends at one, or its pages are the
 * last of a table that has no others.
 */
static char *moved(size_t nr, void (*prepare)(char *, size_t))
{
	char *from, *to;

	needs_soft_dirty();
	from = range_filled(SRC_BASE, nr, PAGE_KIB);
	to = range_hole(DST_BASE, nr);
	if (prepare)
		prepare(from, nr);
	pagemap_clear_soft_dirty();
	expect_soft_dirty(from, nr, false);
	move(from, nr, to);
	expect_soft_dirty(to, nr, true);
	return to;
}

static void to_swap(char *at, size_t nr)
{
	swap_on(SWAP_FOR_TESTS);
	swap_out(at, nr);
}

QUIRE_CASE_CALL_TAGGED(fixes, moved_table, FIXES,
		       range_drop(moved(PMD_PAGES, NULL), PMD_PAGES))
QUIRE_CASE_CALL_TAGGED(fixes, moved_tables, FIXES,
		       range_drop(moved(3 * PMD_PAGES, NULL), 3 * PMD_PAGES))

/* A whole table of tables; a few pages in it will do. */
QUIRE_CASE_TAGGED(fixes, moved_gib, FIXES)
{
	const size_t pages = GIB / PAGE_SIZE, pick[] = { 0, pages / 2, pages - 1 };
	size_t i;

	if (NARROW)
		SKIP("two GiB are too much for 32 bits");
	map_anon(SRC_BASE, GIB);
	for (i = 0; i < ARRAY_SIZE(pick); i++)
		pattern_write_page(page_at(SRC_BASE, pick[i]), SEED, pick[i]);
	pagemap_clear_soft_dirty();
	move(SRC_BASE, pages, DST_BASE);
	for (i = 0; i < ARRAY_SIZE(pick); i++) {
		char *to = page_at(DST_BASE, pick[i]);

		if (pagemap_has_soft_dirty())
			expect_soft_dirty(to, 1, true);
		expect_content(to, 1, SEED, pick[i]);
	}
	unmap(DST_BASE, GIB);
}

QUIRE_CASE_TAGGED(fixes, moved_last_of_table, FIXES)
{
	char *from = page_at(SRC_BASE, PMD_PAGES - 1);
	char *to = page_at(DST_BASE, PMD_PAGES - 1);

	needs_soft_dirty();
	/* The guards of a range would be in the tables. */
	map_anon(from, PAGE_SIZE);
	pattern_write_page(from, SEED, 0);
	pagemap_clear_soft_dirty();
	move(from, 1, to);
	expect_soft_dirty(to, 1, true);
	unmap(to, PAGE_SIZE);
}

QUIRE_CASE_CALL_TAGGED(fixes, moved_swapped, FIXES,
		       range_drop(moved(PMD_PAGES, to_swap), PMD_PAGES))

/* Tracking goes on at the new place. */
QUIRE_CASE_TAGGED(fixes, moved_tracked, FIXES)
{
	char *at = moved(PMD_PAGES, NULL);

	pagemap_clear_soft_dirty();
	expect_soft_dirty(at, PMD_PAGES, false);
	range_fill(page_at(at, 7), 1, PAGE_KIB, SEED_NEW);
	expect_soft_dirty(at, 7, false);
	expect_soft_dirty(page_at(at, 7), 1, true);
	expect_soft_dirty(page_at(at, 8), PMD_PAGES - 8, false);
	range_drop(at, PMD_PAGES);
}

/*
 * What is behind the pages at their old place is behind them at their new one,
 * so that the mappings can be merged when their protection is the same again.
 */
QUIRE_CASE_TAGGED(fixes, moved_then_merged, FIXES)
{
	char *from, *to, *tail;

	needs_soft_dirty();
	from = range_filled(SRC_BASE, 2 * PMD_PAGES, PAGE_KIB);
	to = range_hole(DST_BASE, 2 * PMD_PAGES);
	tail = page_at(to, PMD_PAGES);
	move(from, PMD_PAGES, to);
	range_protect(to, PMD_PAGES, PROT_NONE);
	pagemap_clear_soft_dirty();
	move(page_at(from, PMD_PAGES), PMD_PAGES, tail);
	range_protect(tail, PMD_PAGES, PROT_READ);
	range_protect(tail, PMD_PAGES, PROT_READ | PROT_WRITE);
	range_protect(to, PMD_PAGES, PROT_READ | PROT_WRITE);
	expect_soft_dirty(tail, PMD_PAGES, true);
	pagemap_clear_soft_dirty();
	range_fill(page_at(tail, 7), 1, PAGE_KIB, SEED_NEW);
	expect_soft_dirty(page_at(tail, 7), 1, true);
	range_drop(to, 2 * PMD_PAGES);
}

typedef void change_fn(char *half, bool on);

/*
 * Two halves are mapped side by side, and one of them moved there after soft-dirty
 * was cleared. A change makes the mappings alike: of either half, and with either
 * half the one that moved.
 */
static void moved_then(change_fn *change)
{
	unsigned int i;

	needs_soft_dirty();
	for (i = 0; i < 4; i++) {
		bool moved = i & 1, changed = i & 2;
		char *from = range_filled(SRC_BASE + i * 4 * PMD_SIZE, 2 * PMD_PAGES, PAGE_KIB);
		char *to = range_hole(DST_BASE, 2 * PMD_PAGES);
		unsigned long vmas;

		move(pmd_at(from, !moved), PMD_PAGES, pmd_at(to, !moved));
		change(pmd_at(to, !moved), true);
		pagemap_clear_soft_dirty();
		move(pmd_at(from, moved), PMD_PAGES, pmd_at(to, moved));
		vmas = vma_count();
		change(pmd_at(to, changed), changed == moved);
		EXPECT_EQ(vma_count(), vmas - 1);
		expect_soft_dirty(pmd_at(to, moved), PMD_PAGES, true);
		range_drop(to, 2 * PMD_PAGES);
	}
}

static void change_protection(char *half, bool on)
{
	range_protect(half, PMD_PAGES, on ? PROT_READ : PROT_READ | PROT_WRITE);
}

static void change_advice(char *half, bool on)
{
	range_advise(half, PMD_PAGES, on ? MADV_DONTFORK : MADV_DOFORK);
}

static void change_lock(char *half, bool on)
{
	if (on ? mlock(half, PMD_SIZE) : munlock(half, PMD_SIZE))
		die_errno("mlock or munlock");
}

static void change_policy(char *half, bool on)
{
	unsigned long mask = 1;

	if (syscall(SYS_mbind, half, PMD_SIZE, on ? MPOL_BIND : MPOL_DEFAULT,
		    on ? &mask : NULL, on ? 8 * sizeof(mask) : 0, 0))
		die_errno("mbind");
}

QUIRE_CASE_CALL_TAGGED(fixes, moved_then_protected, FIXES, moved_then(change_protection))
QUIRE_CASE_CALL_TAGGED(fixes, moved_then_advised, FIXES, moved_then(change_advice))
QUIRE_CASE_CALL_TAGGED(fixes, moved_then_locked, FIXES, moved_then(change_lock))
QUIRE_CASE_CALL_TAGGED(fixes, moved_then_bound, FIXES, moved_then(change_policy))

/* Written, then made read-only, and collapsed by khugepaged to a folio of kib. */
QUIRE_CASE_SIZES_TAGGED(fixes, collapsed_soft_dirty, FIXES, 16, 64, 256, 1024, 2048)
{
	size_t pages = folio_pages(kib);
	char *at = range_hole(SRC_BASE, PMD_PAGES);

	needs_soft_dirty();
	folio_want(PAGE_KIB);
	map_anon(at, PMD_SIZE);
	range_fill(at, pages, PAGE_KIB, SEED);
	pagemap_clear_soft_dirty();
	range_fill(at, pages, PAGE_KIB, SEED_NEW);
	range_protect(at, PMD_PAGES, PROT_READ);
	khugepaged_collapse(at, PMD_SIZE, kib);
	expect_soft_dirty(at, pages, true);
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, PMD_PAGES);
}
