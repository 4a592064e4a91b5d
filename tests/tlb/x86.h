/* SPDX-License-Identifier: GPL-2.0 */
/* The same for x86-64: its entries, and the hooks where the patch has them. */
#include "host.h"

#define CONFIG_X86_64 1
#define __initdata
#define min(a, b) ((a) < (b) ? (a) : (b))
#define round_up(n, a) (((n) + (a) - 1) & ~((a) - 1))

/* Entries. */
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PMD_SHIFT 21
#define TASK_SIZE_MAX (1UL << 47)
#define TLB_FLUSH_ALL -1UL
#define PTE_PFN_MASK 0xffffffffff000UL
#define _PAGE_PRESENT BIT(0)
#define _PAGE_RW BIT(1)
#define _PAGE_USER BIT(2)
#define _PAGE_ACCESSED BIT(5)
#define _PAGE_DIRTY BIT(6)
#define _PAGE_PSE BIT(7)
#define _PAGE_PAT_LARGE BIT(12)
#define pmd_page_vaddr(pmd) ((pmd).val & PTE_PFN_MASK)
#define ZERO_PFN 0x77UL
#define is_zero_pfn(pfn) ((pfn) == ZERO_PFN)
#define __pa(p) ((u64)(uintptr_t)(p))

struct mm_struct { void *pgd; };
static struct mm_struct init_mm;
static struct task_struct init_task;
#define mm_alloc() ((struct mm_struct *)calloc(1, sizeof(struct mm_struct)))
#define mmput(mm) free(mm)

#include <asm/tlb_hazard.h>

/* The hooks. */
struct arch_tlbflush_unmap_batch { int unused; };
#define arch_tlbbatch_flush tlb_hazard_batch_flush

static inline void flush_tlb_mm_range(struct mm_struct *mm, unsigned long start,
				      unsigned long end, unsigned int shift, bool freed_tables)
{
	tlb_hazard_flush(mm, start, end, shift, tlb_hazard_begin());
}

#define flush_tlb_mm(mm) flush_tlb_mm_range(mm, 0, TLB_FLUSH_ALL, 0, true)
#define flush_tlb_all() flush_tlb_mm(NULL)

static inline void set_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep, pte_t pte,
			    unsigned int nr)
{
	tlb_hazard_set(mm, addr, ptep, pte.val, nr);
	for (; nr; nr--, pte.val += PAGE_SIZE)
		*ptep++ = pte;
}

#define set_pte_at(mm, addr, ptep, pte) set_ptes(mm, addr, ptep, pte, 1)
#define set_pmd_at set_pte_at

static inline void ptep_get_and_clear(struct mm_struct *mm, unsigned long addr, pte_t *ptep)
{
	u64 old = ptep->val;

	ptep->val = 0;
	tlb_hazard_change(mm, addr, old, 0);
}

static inline void pmdp_huge_get_and_clear(struct mm_struct *mm, unsigned long addr, pmd_t *pmdp)
{
	u64 old = pmdp->val;

	pmdp->val = 0;
	tlb_hazard_clear(mm, addr, old);
}

static inline void ptep_set_wrprotect(struct mm_struct *mm, unsigned long addr, pte_t *ptep)
{
	u64 old = ptep->val;

	ptep->val &= ~_PAGE_RW;
	tlb_hazard_change(mm, addr, old, ptep->val);
}

#define pmdp_set_wrprotect ptep_set_wrprotect
