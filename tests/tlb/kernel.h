/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enough of a kernel for tlb_hazard.c and its self-test on the host: one CPU, no
 * locks, entries of arm64, tables that only the self-test has.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define CONFIG_DEBUG_TLB_HAZARD 1
#define __init
#define noinline
#define __page_aligned_bss __attribute__((aligned(4096)))
#define EXPORT_SYMBOL_GPL(name)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define BIT(n) (1UL << (n))
#define UL(n) n##UL
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
#define IS_ALIGNED(n, a) (((n) & ((a) - 1)) == 0)
#define PTR_ALIGN_DOWN(p, a) ((typeof(p))((uintptr_t)(p) & ~((a) - 1)))

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;

/* Entries. */
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define CONT_PTES 16
#define CONT_PTE_SHIFT 16
#define CONT_PTE_SIZE (1UL << CONT_PTE_SHIFT)
#define CONT_PTE_MASK (~(CONT_PTE_SIZE - 1))
#define PMD_SIZE (1UL << 21)
#define PMD_MASK (~(PMD_SIZE - 1))
#define PTRS_PER_PTE 512
#define PTRS_PER_PMD 512
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

typedef struct { u64 val; } pte_t;
typedef pte_t pmd_t;
typedef u64 pgprot_t;
#define __pmd(v) ((pmd_t){ v })
#define __pte(v) ((pte_t){ v })
#define pte_val(pte) ((pte).val)
#define pmd_val(pmd) ((pmd).val)
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

/* No walk is made: the self-test's tables are always reached. */
typedef pte_t pgd_t, p4d_t, pud_t;
#define pgd_offset(mm, addr) ((pgd_t *)NULL)
#define pgd_none(pgd) true
#define p4d_offset_lockless(pgdp, pgd, addr) (pgdp)
#define p4d_none(p4d) true
#define pud_offset_lockless(p4dp, p4d, addr) (p4dp)
#define pud_present(pud) false
#define pud_leaf(pud) false
#define pmd_offset_lockless(pudp, pud, addr) (pudp)
#define pte_offset_kernel(pmd, addr) (pmd)

/* Lists. */
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define list_empty(head) ((head)->next == (head))
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : container_of((head)->next, type, member))
#define list_for_each_entry_safe(p, n, head, member)			\
	for (p = container_of((head)->next, typeof(*p), member);	\
	     n = container_of(p->member.next, typeof(*p), member),	\
	     &p->member != (head); p = n)
#define hlist_for_each_entry(p, head, member)				\
	for (struct hlist_node *at = (head)->first;			\
	     at && ((p = container_of(at, typeof(*p), member)), true); at = at->next)

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	*entry = (struct list_head){ head->next, head };
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	*node = (struct hlist_node){ head->first, &head->first };
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

/* What else it calls. */
#define DEFINE_RAW_SPINLOCK(name) int name
#define raw_spin_lock_irqsave(lock, flags) ((void)(lock), (flags) = 0)
#define raw_spin_unlock_irqrestore(lock, flags) ((void)(lock), (void)(flags))
#define DEFINE_PER_CPU(type, name) type name
#define per_cpu(name, cpu) (*((void)(cpu), &(name)))
#define this_cpu_inc(name) ((name)++)
#define raw_smp_processor_id() 0
#define hash_64(value, bits) ((value) * 0x61C8864680B583EBull >> (64 - (bits)))
#define jhash(key, length, initial) ((u32)(length) + (initial))
#define cmpxchg(p, old, new) ({ typeof(*(p)) was = *(p); if (was == (old)) *(p) = (new); was; })
#define stack_trace_save(store, size, skip) ((void)(store))
#define pr_info(...) printf(__VA_ARGS__)
#define pr_info_once(...) printf(__VA_ARGS__)
#define WARN(condition, ...) (warnings++, printf(__VA_ARGS__))
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
#define vzalloc(size) calloc(1, size)
#define kfree(p) free(p)
#define array_size(a, b) ((a) * (size_t)(b))
#define ENOMEM 12
#define early_initcall(function) static int (*const early)(void) = function
#define late_initcall(function) static int (*const late)(void) = function
typedef int atomic_t;
typedef int64_t atomic64_t;
#define atomic_read(p) (*(p))
#define atomic_set(p, value) (*(p) = (value))
#define atomic64_read(p) (*(p))
#define mm_is_efi(mm) false
#define mm_tlb_flush_pending(mm) false

static int warnings;
static bool bbml3, lpa2, ranges;
static u64 clock_ns;
static struct { pid_t pid; } task, *current = &task;

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
