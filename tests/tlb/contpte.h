/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What contpte.c needs beyond kernel.h: entries of arm64, one folio of 2 MiB, and
 * the callers of its functions in asm/pgtable.h.
 */
#define PTE_USER BIT(6)
#define PTE_SPECIAL BIT(56)
#define ALIGN(x, a) (((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define ALIGN_DOWN(x, a) ((x) & ~((typeof(x))(a) - 1))
#define VM_WARN_ON(condition) ((void)(condition))
#define VM_WARN_ON_ONCE(condition) ((void)(condition))
#define ilog2(n) __builtin_ctzl(n)
typedef u64 pteval_t;

#define __ptep_get(ptep) (*(ptep))
#define __set_pte_nosync(ptep, pte) (*(ptep) = (pte))
#define __set_pte(ptep, pte) (*(ptep) = (pte))
#define __set_pte_complete(pte)
#define __sync_cache_and_tags(pte, nr)
#define __check_safe_pte_update(mm, ptep, pte)
#define pgprot_val(prot) (prot)
#define __pgprot(value) (value)
#define pte_mknoncont(pte) __pte((pte).val & ~PTE_CONT)
#define pte_write(pte) ((bool)((pte).val & PTE_WRITE))
#define pte_young(pte) ((bool)((pte).val & PTE_AF))
#define pte_special(pte) ((bool)((pte).val & PTE_SPECIAL))
#define pte_hw_dirty(pte) (pte_write(pte) && !((pte).val & PTE_RDONLY))
#define pte_dirty(pte) (((pte).val & PTE_DIRTY) || pte_hw_dirty(pte))
#define pte_mkdirty(pte) __pte((pte).val | PTE_DIRTY)
#define pte_valid_cont(pte) (pte_valid(pte) && pte_cont(pte))
#define pte_advance_pfn(pte, nr) __pte((pte).val + ((u64)(nr) << PAGE_SHIFT))
#define pte_cont_addr_end(addr, end) \
	(ALIGN_DOWN(addr, CONT_PTE_SIZE) + CONT_PTE_SIZE < (end) ? \
	 ALIGN_DOWN(addr, CONT_PTE_SIZE) + CONT_PTE_SIZE : (end))

struct page { int unused; };
struct folio { struct page page; };
static struct page pages[PTRS_PER_PTE];
#define pte_page(pte) (&pages[pte_pfn(pte) - PAGES])
#define page_folio(page) ((struct folio *)pages)
#define folio_nr_pages(folio) ARRAY_SIZE(pages)

void __contpte_try_fold(struct mm_struct *mm, unsigned long addr, pte_t *ptep, pte_t pte);
void __contpte_try_unfold(struct mm_struct *mm, unsigned long addr, pte_t *ptep, pte_t pte);
void contpte_set_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep, pte_t pte,
		      unsigned int nr);
pte_t contpte_get_and_clear_full_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
				      unsigned int nr, int full);

static inline void contpte_try_unfold(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
				      pte_t pte)
{
	if (pte_valid_cont(pte))
		__contpte_try_unfold(mm, addr, ptep, pte);
}

static inline void set_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep, pte_t pte,
			    unsigned int nr)
{
	if (nr > 1) {
		contpte_set_ptes(mm, addr, ptep, pte, nr);
		return;
	}
	contpte_try_unfold(mm, addr, ptep, *ptep);
	__set_ptes(mm, addr, ptep, pte, 1);
	if (pte_index(addr) % CONT_PTES == CONT_PTES - 1 &&
	    pte_pfn(pte) % CONT_PTES == CONT_PTES - 1 && pte_valid(pte))
		__contpte_try_fold(mm, addr, ptep, pte);
}

static inline pte_t __get_and_clear_full_ptes(struct mm_struct *mm, unsigned long addr,
					      pte_t *ptep, unsigned int nr, int full)
{
	pte_t first = *ptep;

	(void)full;
	for (; nr; nr--, ptep++, addr += PAGE_SIZE)
		__ptep_get_and_clear(mm, addr, ptep);
	return first;
}

static inline void clear_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
			      unsigned int nr)
{
	if (nr > 1) {
		contpte_get_and_clear_full_ptes(mm, addr, ptep, nr, 0);
		return;
	}
	contpte_try_unfold(mm, addr, ptep, *ptep);
	__ptep_get_and_clear(mm, addr, ptep);
}

static inline void __wrprotect_ptes(struct mm_struct *mm, unsigned long addr, pte_t *ptep,
				    unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ptep[i].val = (ptep[i].val & ~PTE_WRITE) | PTE_RDONLY;
	tlb_hazard_agree(mm, addr, ptep + nr - 1);
}
