/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enough of a kernel for tlb_hazard.c and its self-test on the host: one CPU, no
 * locks, entries of arm64, tables that only the self-test has.
 */
#include "host.h"

#define IS_ALIGNED(n, a) (((n) & ((a) - 1)) == 0)
#define PTR_ALIGN_DOWN(p, a) ((typeof(p))((uintptr_t)(p) & ~((a) - 1)))

/* Entries. */
#define CONT_PTES 16
#define CONT_PTE_SHIFT 16
#define CONT_PTE_SIZE (1UL << CONT_PTE_SHIFT)
#define CONT_PTE_MASK (~(CONT_PTE_SIZE - 1))
#define TASK_SIZE_64 (1UL << 48)
#define PTE_VALID BIT(0)
#define PTE_TABLE BIT(1)
#define PTE_TYPE_MASK 3UL
#define PTE_TYPE_PAGE 3UL
#define PTE_ATTRINDX_MASK (7UL << 2)
#define PTE_ATTRINDX(type) ((u64)(type) << 2)
#define PTE_RDONLY BIT(7)
#define PTE_SHARED (3UL << 8)
#define PTE_AF BIT(10)
#define PTE_NG BIT(11)
#define PTE_WRITE BIT(51)
#define PTE_CONT BIT(52)
#define PTE_DIRTY BIT(55)
#define PTE_ADDR 0xfffffffff000UL
enum { MT_NORMAL, MT_NORMAL_TAGGED, MT_NORMAL_NC };

typedef u64 pgprot_t;
#define PAGE_KERNEL_RO (PTE_VALID | PTE_TABLE | PTE_AF | PTE_SHARED | PTE_RDONLY)
#define pgprot_tagged(prot) ((prot) | PTE_ATTRINDX(MT_NORMAL_TAGGED))
#define pgprot_writecombine(prot) ((prot) | PTE_ATTRINDX(MT_NORMAL_NC))
#define pfn_pte(pfn, prot) __pte((u64)(pfn) << PAGE_SHIFT | (prot))
#define pte_pfn(pte) (((pte).val & PTE_ADDR) >> PAGE_SHIFT)
#define pte_pgprot(pte) ((pte).val & ~PTE_ADDR)
#define pte_modify(pte, prot) pfn_pte(pte_pfn(pte), prot)
#define pte_valid(pte) ((bool)((pte).val & PTE_VALID))
#define pte_cont(pte) ((bool)((pte).val & PTE_CONT))
#define pte_same(a, b) ((a).val == (b).val)
#define pte_mkold(pte) __pte((pte).val & ~PTE_AF)
#define pte_mkyoung(pte) __pte((pte).val | PTE_AF)
#define pte_mkclean(pte) __pte(((pte).val & ~PTE_DIRTY) | PTE_RDONLY)
#define pte_mkcont(pte) __pte((pte).val | PTE_CONT)
#define pte_mkwrite_novma(pte) __pte((pte).val | PTE_WRITE)
#define pte_index(addr) ((addr) >> PAGE_SHIFT & (PTRS_PER_PTE - 1))
#define pte_pmd(pte) (pte)
#define pmd_pte(pmd) (pmd)
#define pmd_mkhuge(pmd) __pmd((pmd).val & ~PTE_TABLE)
#define pmd_valid(pmd) pte_valid(pmd)
#define pmd_present(pmd) pte_valid(pmd)
#define pmd_leaf(pmd) (((pmd).val & (PTE_VALID | PTE_TABLE)) == PTE_VALID)
#define pmd_page_vaddr(pmd) ((pmd).val & PTE_ADDR)
#define pte_offset_kernel(pmd, addr) (pmd)

/* What else it calls. */
#define DEFINE_PER_CPU(type, name) type name
#define per_cpu(name, cpu) (*((void)(cpu), &(name)))
#define this_cpu_inc(name) ((name)++)
#define raw_smp_processor_id() 0
#define system_supports_bbml3() bbml3
#define lpa2_is_enabled() lpa2
#define system_supports_tlb_range() ranges
#define NSEC_PER_MSEC 1000000
#define ktime_get_mono_fast_ns() (clock_ns += NSEC_PER_MSEC)
#define object_is_on_stack(p) false
#define local_irq_save(flags) ((flags) = 0)
#define local_irq_restore(flags) ((void)(flags))
#define udelay(time) ((void)(time))
#define kzalloc(size, flags) calloc(1, size)
#define kfree(p) free(p)
typedef int atomic_t;
typedef int64_t atomic64_t;
#define atomic_read(p) (*(p))
#define atomic_set(p, value) (*(p) = (value))
#define atomic64_read(p) (*(p))
#define mm_is_efi(mm) false
#define mm_tlb_flush_pending(mm) false

static bool bbml3, lpa2, ranges;
static u64 clock_ns;

#include <asm/tlb_hazard.h>

struct mm_struct {
	void *pgd;
	atomic_t mm_users;
	struct { atomic64_t id; struct tlb_hazard_mm tlb_hazard; } context;
};

struct vm_area_struct { struct mm_struct *vm_mm; };
static struct mm_struct init_mm;

/* The hooks, where the patch has them. */
typedef unsigned int tlbf_t;
#define TLBF_NONE 0
#define TLBF_NOWALKCACHE 1
#define TLBF_NOSYNC 2
#define TLBF_NOBROADCAST 8
#define TLBI_TTL_UNKNOWN 0x7fffffff
#define TLB_FLUSH_VMA(mm, flags) { .vm_mm = (mm) }

static inline void __flush_tlb_range(struct vm_area_struct *vma, unsigned long start,
				     unsigned long end, unsigned long stride, int level,
				     tlbf_t flags)
{
	if (flags & TLBF_NOBROADCAST)
		return;
	tlb_hazard_flush(vma->vm_mm, start & -stride, (end + stride - 1) & -stride,
			 stride, level, flags & TLBF_NOSYNC);
	if (!(flags & TLBF_NOSYNC))
		tlb_hazard_wait();
}

static inline void flush_tlb_mm(struct mm_struct *mm)
{
	tlb_hazard_flush_mm(mm);
	tlb_hazard_wait();
}

#define flush_tlb_all() flush_tlb_mm(NULL)
#define arch_tlbbatch_flush(batch) tlb_hazard_wait()

static inline void __set_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
			      pte_t pte, unsigned int nr)
{
	tlb_hazard_set(mm, addr, ptep, pte.val, nr, PAGE_SIZE);
	for (; nr; nr--, pte.val += PAGE_SIZE)
		*ptep++ = pte;
	tlb_hazard_agree(mm, addr, ptep - 1);
}

static inline void set_pmd_at(struct mm_struct *mm, unsigned long addr, pmd_t *pmdp, pmd_t pmd)
{
	tlb_hazard_set(mm, addr, pmdp, pmd.val, 1, PMD_SIZE);
	*pmdp = pmd;
}

static inline pte_t __ptep_get_and_clear_anysz(struct mm_struct *mm, unsigned long addr,
					       pte_t *ptep, unsigned long size)
{
	pte_t old = *ptep;

	ptep->val = 0;
	tlb_hazard_clear(mm, addr, ptep, old.val, size);
	return old;
}

#define __ptep_get_and_clear(mm, addr, ptep) \
	__ptep_get_and_clear_anysz(mm, addr, ptep, PAGE_SIZE)
#define pmdp_huge_get_and_clear(mm, addr, pmdp) \
	__ptep_get_and_clear_anysz(mm, addr, pmdp, PMD_SIZE)
