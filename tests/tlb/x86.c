// SPDX-License-Identifier: GPL-2.0
/* Run the self-test of x86-64's DEBUG_TLB_HAZARD on the host, and the sequences that no boot runs. */
#include "x86.h"
#include "tlb_hazard.c"

#define CLEAN (READABLE | _PAGE_RW)
/* The page this far behind PAGES has its hash. */
#define SAME_BUCKET 6765

static void replace(unsigned int nr, unsigned int by)
{
	set_ptes(tested, AT, tested_table,
		 __pte((PAGES + by) << PAGE_SHIFT | READABLE), nr);
}

static void protected(unsigned int page, u64 bits)
{
	make(page, bits);
	ptep_set_wrprotect(tested, AT + page * PAGE_SIZE, tested_table + page);
}

static void flush(unsigned int first, unsigned int end, unsigned int shift)
{
	flush_tlb_mm_range(tested, AT + first * PAGE_SIZE, AT + end * PAGE_SIZE,
			   shift, false);
}

static void pend(const struct arch_tlbflush_unmap_batch *in, unsigned int first, unsigned int end)
{
	tlb_hazard_batch(in, tested, AT + first * PAGE_SIZE, AT + end * PAGE_SIZE,
			 tlb_hazard_begin());
}

static void test_flushes(void)
{
	u64 begun;

	removed(0, READABLE);
	is_freed(1, 0, "the page behind it");
	removed(1, READABLE);
	is_freed(0, 0, "the page before it");
	removed(1, READABLE);
	tlb_hazard_free(PAGES, 4);
	expect(1, "a folio without a flush");
	removed(4, READABLE);
	tlb_hazard_free(PAGES, 4);
	expect(0, "the folio before it");
	removed(0, READABLE);
	tlb_hazard_free(PAGES + 1, 4);
	expect(0, "the folio behind it");
	removed(0, READABLE);
	flush(0, 1, PAGE_SHIFT);
	is_freed(0, 0, "a page after a flush");
	removed(1, READABLE);
	flush(0, 1, PAGE_SHIFT);
	is_freed(1, 1, "a page after a flush that is a page short");
	removed(0, READABLE);
	flush(1, 2, PAGE_SHIFT);
	is_freed(0, 1, "a page after a flush that begins behind it");
	removed(1, READABLE);
	flush(0, 2, PMD_SHIFT);
	is_freed(1, 1, "a page after a flush with too long a stride");
	removed(0, READABLE);
	flush_tlb_mm(&init_mm);
	is_freed(0, 1, "a page after a flush of another mm");
	begun = tlb_hazard_begin();
	removed(0, READABLE);
	tlb_hazard_flush(tested, 0, TLB_FLUSH_ALL, 0, begun);
	is_freed(0, 1, "a page that was removed during the flush");
	removed(0, READABLE);
	make(0, READABLE);
	is_freed(0, 0, "a page that came back");
	make(0, READABLE);
	make(1, READABLE);
	replace(2, 64);
	is_freed(1, 1, "the second page of a run that was replaced");
	make(0, READABLE);
	make(1, READABLE);
	replace(2, 0);
	tlb_hazard_free(PAGES, 2);
	expect(0, "a run that was set again");
	removed(1, READABLE);
	replace(1, 1);
	is_freed(1, 1, "a page that came back elsewhere");
	set_pte_at(tested, AT, tested_table, __pte(ZERO_PFN << PAGE_SHIFT | READABLE));
	ptep_get_and_clear(tested, AT, tested_table);
	tlb_hazard_return();
	expect(0, "the zero page");
	removed(0, WRITABLE & ~_PAGE_PRESENT);
	is_freed(0, 0, "a page that was not present");
	make(0, WRITABLE & ~_PAGE_PRESENT);
	replace(2, 64);
	is_freed(0, 0, "a page that was not present and was replaced");
}

static void test_batches(void)
{
	u64 begun;
	const struct arch_tlbflush_unmap_batch *other = &batch;

	while (bit_of(other) == bit_of(&batch))
		other++;
	removed(0, READABLE);
	pend(&batch, 0, 1);
	is_freed(0, 1, "a page before the flush of its batch");
	removed(0, READABLE);
	arch_tlbbatch_flush(&batch);
	is_freed(0, 1, "a page that is in no batch");
	removed(1, READABLE);
	pend(&batch, 0, 1);
	arch_tlbbatch_flush(&batch);
	is_freed(1, 1, "a page behind the range in the batch");
	removed(0, READABLE);
	pend(&batch, 0, 1);
	removed(0, READABLE);
	arch_tlbbatch_flush(&batch);
	is_freed(0, 1, "a page that was mapped again since it was in the batch");
	removed(0, READABLE);
	pend(&batch, 0, 1);
	pend(other, 0, 1);
	arch_tlbbatch_flush(&batch);
	is_freed(0, 0, "a page in two batches after the flush of the first");
	removed(0, READABLE);
	pend(&batch, 0, 1);
	pend(other, 0, 1);
	arch_tlbbatch_flush(other);
	is_freed(0, 0, "a page in two batches after the flush of the second");
	removed(0, READABLE);
	pend(other, 0, 1);
	arch_tlbbatch_flush(&batch);
	is_freed(0, 1, "a page after the flush of another batch");
	begun = tlb_hazard_begin();
	removed(0, READABLE);
	tlb_hazard_batch(&batch, tested, AT, AT + PAGE_SIZE, begun);
	arch_tlbbatch_flush(&batch);
	is_freed(0, 1, "a page that was removed while the mm was added to the batch");
	removed(0, WRITABLE);
	pend(&batch, 0, 1);
	removed(0, READABLE);
	pend(other, 0, 1);
	arch_tlbbatch_flush(&batch);
	is_stable(0, "contents of a page that is read-only in a later batch");
}

static void test_contents(void)
{
	removed(0, WRITABLE);
	is_stable(1, "contents that a TLB may write to");
	removed(0, WRITABLE);
	flush(0, 1, PAGE_SHIFT);
	is_stable(0, "contents after a flush");
	removed(0, READABLE | _PAGE_DIRTY);
	is_stable(0, "contents that no TLB may write to");
	removed(1, WRITABLE);
	is_stable(0, "contents of the page before");
	protected(0, CLEAN);
	is_stable(0, "contents of a clean page that was write-protected");
	make(0, WRITABLE);
	make(0, CLEAN);
	is_stable(1, "contents of a page that was made clean");
	removed(0, WRITABLE);
	make(0, READABLE);
	is_stable(1, "contents of a page that came back read-only");
	removed(0, WRITABLE);
	make(0, CLEAN);
	is_stable(1, "contents of a page that came back clean");
	removed(0, WRITABLE);
	make(0, WRITABLE);
	is_stable(0, "contents of a page that came back writable");
	removed(0, WRITABLE);
	removed(0, READABLE);
	is_stable(1, "contents of a page that came back and was removed");
	protected(0, WRITABLE);
	tlb_hazard_return();
	expect(1, "a return before the flush");
	protected(0, WRITABLE);
	check("return", &init_task, 0, 0, HELD);
	expect(0, "the return of another task");
	protected(0, WRITABLE);
	current->pid++;
	tlb_hazard_return();
	expect(0, "the return of a task that has the place of another one");
	protected(0, WRITABLE);
	flush(0, 1, PAGE_SHIFT);
	tlb_hazard_return();
	expect(0, "a return after the flush");
}

static void made_clean(unsigned int page)
{
	make(page, WRITABLE);
	make(page, CLEAN);
}

static void is_kept(int times, const char *what)
{
	tlb_hazard_write(PAGES, 1);
	expect(times, what);
}

static void given_up(unsigned int page, unsigned int nr)
{
	tlb_hazard_given_up(tested, AT + page * PAGE_SIZE, PAGES + page, nr);
}

static void made_clean_and_given_up(void)
{
	made_clean(0);
	given_up(0, 1);
}

static void test_given_up(void)
{
	made_clean(0);
	is_kept(1, "contents that are written back");
	made_clean_and_given_up();
	is_kept(0, "contents that were given up");
	made_clean_and_given_up();
	is_stable(1, "contents that were given up, and compared");
	made_clean(1);
	given_up(0, 2);
	tlb_hazard_write(PAGES + 1, 1);
	expect(0, "contents of the second page that was given up");
	made_clean(0);
	tlb_hazard_given_up(tested, AT, PAGES + SAME_BUCKET, 1);
	is_kept(1, "contents where another page was given up");
	made_clean(0);
	tlb_hazard_given_up(tested, AT + PAGE_SIZE, PAGES, 1);
	is_kept(1, "contents that were given up at another address");
	made_clean(0);
	tlb_hazard_given_up(NULL, AT, PAGES, 1);
	is_kept(1, "contents that were given up by another address space");
	made_clean(0);
	current = &init_task;
	given_up(0, 1);
	current = &task;
	is_kept(0, "contents that another task gave up before the flush of this one");
	make_pmd(WRITABLE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	given_up(0, 1);
	is_kept(1, "contents of a PMD of which a page was given up");
	made_clean_and_given_up();
	make(0, CLEAN);
	tlb_hazard_return();
	expect(1, "a return before the flush of what was given up");
}

static void test_after_given_up(void)
{
	made_clean_and_given_up();
	ptep_get_and_clear(tested, AT, tested_table);
	is_freed(0, 2, "a page that was given up and removed");
	made_clean_and_given_up();
	ptep_set_wrprotect(tested, AT, tested_table);
	is_kept(0, "contents that were given up and write-protected");
	made_clean_and_given_up();
	make(0, WRITABLE);
	ptep_get_and_clear(tested, AT, tested_table);
	is_kept(1, "contents that were given up and written again");
	made_clean_and_given_up();
	made_clean(0);
	is_kept(1, "contents that were given up, written again and made clean");
	made_clean_and_given_up();
	/* A CPU sets the dirty bit, of which nothing is told. */
	tested_table[0].val |= _PAGE_DIRTY;
	ptep_get_and_clear(tested, AT, tested_table);
	is_kept(1, "contents that were given up and written by a CPU");
}

static void test_pmds(void)
{
	make_pmd(READABLE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	tlb_hazard_free(PAGES + 17, 2);
	expect(1, "two pages of a PMD without a flush");
	make_pmd(READABLE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	flush(0, PTRS_PER_PMD, PMD_SHIFT);
	is_freed(17, 0, "a page of a PMD after a flush");
	make_pmd(READABLE | _PAGE_PAT_LARGE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	is_freed(PTRS_PER_PMD, 0, "a page behind a PMD");
	make_pmd(READABLE | _PAGE_PAT_LARGE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	is_freed(17, 1, "a page of a PMD of another memory type");
	make_pmd(READABLE);
	make_pmd(WRITABLE & ~_PAGE_PRESENT);
	is_freed(17, 1, "a page of a PMD that was made invalid");
	make(3, READABLE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	is_freed(3, 1, "a page whose page table was removed");
	make(3, READABLE);
	pmdp_huge_get_and_clear(tested, AT, &tested_pmd);
	flush_tlb_mm(tested);
	ptep_get_and_clear(tested, AT + 3 * PAGE_SIZE, tested_table + 3);
	is_freed(3, 0, "a page of a table that was removed before");
	set_pte_at(tested, AT, (pte_t *)&tested_pmd,
		   __pte((u64)PAGES << PAGE_SHIFT | _PAGE_PSE | READABLE));
	ptep_get_and_clear(tested, AT, (pte_t *)&tested_pmd);
	is_freed(17, 1, "a page of hugetlb's");
}

int main(void)
{
	static struct mm_struct mm;

	early();
	late();
	tested = &mm;
	begin();
	test_flushes();
	test_batches();
	test_contents();
	test_given_up();
	test_after_given_up();
	test_pmds();
	return warnings != 0;
}
