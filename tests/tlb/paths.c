// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's contpte.c, called in the order in which mprotect(), NUMA balancing,
 * reclaim, zapping and faults call it, with the model watching.
 */
#include "kernel.h"
#include "tlb_hazard.c"
#include "contpte.h"
#include "contpte.c"

static struct mm_struct space;

static pte_t entry(unsigned int page, bool writable)
{
	pte_t pte = single(page);

	pte.val |= PTE_USER | PTE_NG;
	return writable ? __pte((pte.val | PTE_WRITE) & ~PTE_RDONLY) : pte;
}

static void map(unsigned int page, unsigned int nr, pte_t pte)
{
	set_ptes(&space, AT + page * PAGE_SIZE, tested_table + page, pte, nr);
}

static void unmap(unsigned int page, unsigned int nr)
{
	clear_ptes(&space, AT + page * PAGE_SIZE, tested_table + page, nr);
}

/* In turn exclusive pages, which become writable, and shared ones. */
static void map_in_turn(bool cut)
{
	unsigned int page;

	for (page = 0; page < CONT_PTES; page++) {
		if (cut)
			unmap(page, 1);
		map(page, 1, entry(page, page % 2));
	}
}

/* All pages of a block, as single entries: every second one is writable. */
static void map_single(void)
{
	map_in_turn(false);
}

/* A block's worth of entries goes, and, as it should be, they are flushed. */
static void clear_block(bool flushed)
{
	unmap(0, 16);
	if (flushed)
		flush_pages(16, TLBF_NONE);
}

static void tell(const char *name)
{
	printf("%s: %d\n", name, found);
	found = 0;
	memset(tested_table, 0, sizeof(tested_table));
	tested_pmd = __pmd(0);
	tlb_hazard_init(&space);
}

static void test_contpte(void)
{
	unsigned int page;

	map(0, 32, entry(0, true));
	map(3, 1, entry(3, false));
	for (page = 0; page < CONT_PTES; page++)
		map(page, 1, entry(page, false));
	tell("unfold and fold");
	map(0, 16, entry(0, true));
	contpte_wrprotect_ptes(&space, AT, tested_table, 16);
	contpte_wrprotect_ptes(&space, AT + PAGE_SIZE, tested_table + 1, 3);
	tell("fork");
}

static void test_mprotect(bool flushed)
{
	unsigned int page;

	map(0, 16, entry(0, false));
	if (!flushed)
		unmap(0, 16);
	map_in_turn(flushed);
	tell("mprotect, a block in turn");
	map_single();
	clear_block(flushed);
	map(0, 16, entry(0, false));
	tell("mprotect, single entries become a block");
	map(0, 16, entry(0, true));
	clear_block(flushed);
	for (page = 0; page < 5; page++)
		map(page, 1, entry(page, true));
	tell("a fault after hints on a block");
}

static void test_reclaim(bool wait)
{
	tlbf_t how = wait ? TLBF_NONE : TLBF_NOSYNC;

	map(0, 16, entry(0, true));
	unmap(0, 16);
	flush_pages(16, TLBF_NOSYNC);
	map(0, 16, entry(0, true));
	tell("reclaim puts a block back");
	map_single();
	unmap(0, 16);
	flush_pages(16, how);
	map(0, 16, entry(0, true));
	tell("reclaim puts single entries back as a block");
	map(0, 16, entry(0, true));
	unmap(0, 16);
	flush_pages(16, how);
	map(5, 1, entry(77, true));
	tell("a fault after reclaim of a block");
	map(0, 1, entry(0, true));
	unmap(0, 1);
	flush_pages(1, how);
	map(0, 1, entry(77, true));
	tell("a fault after reclaim of a page");
}

static void test_zap(bool flushed)
{
	map_single();
	clear_block(flushed);
	map(0, 16, entry(16, true));
	tell("a fault maps a block after zapping single pages");
	map(0, 16, entry(0, true));
	clear_block(flushed);
	map(5, 1, entry(77, true));
	tell("a fault maps a page after zapping a block");
}

int main(void)
{
	early();
	atomic_set(&space.mm_users, 1);
	tested = &space;
	test_contpte();
	puts("as stock does:");
	test_mprotect(false);
	test_reclaim(false);
	test_zap(false);
	puts("as the series does, or should:");
	test_mprotect(true);
	test_reclaim(true);
	test_zap(true);
	return 0;
}
