/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of single pages: /proc/<pid>/pagemap, /proc/kpageflags and
 * /proc/kpagecount. Bit positions: Documentation/admin-guide/mm/pagemap.rst.
 */
#ifndef QUIRE_PAGEMAP_H
#define QUIRE_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bits of an entry of pagemap. */
#define PAGEMAP_FRAME		((1ull << 55) - 1)	/* or the swap entry */
#define PAGEMAP_SOFT_DIRTY	(1ull << 55)
#define PAGEMAP_EXCLUSIVE	(1ull << 56)
#define PAGEMAP_UFFD_WP		(1ull << 57)
#define PAGEMAP_FILE		(1ull << 61)
#define PAGEMAP_SWAPPED		(1ull << 62)
#define PAGEMAP_PRESENT		(1ull << 63)

struct page_state {
	uint64_t raw;
	uint64_t pfn;		/* valid when present */
	uint64_t swap_type;	/* valid when swapped */
	uint64_t swap_offset;
	bool present;
	bool swapped;		/* or a migration or other non-present entry */
	bool file;		/* file, shmem or shared anonymous page */
	bool soft_dirty;	/* always false without CONFIG_MEM_SOFT_DIRTY */
	bool uffd_wp;
	bool exclusive;		/* mapped once (by mapcount; not PageAnonExclusive) */
};

/* The states of the pages from addr on; dies on error. pid 0: this process. */
void pagemap_read(const void *addr, size_t pages, struct page_state *out);
void pagemap_read_pid(pid_t pid, const void *addr, size_t pages,
		      struct page_state *out);
struct page_state pagemap_page(const void *addr);

/* How many of the pages are present, or swapped out. */
size_t pagemap_present(const void *addr, size_t pages);
size_t pagemap_swapped(const void *addr, size_t pages);

/* Does this kernel track soft-dirty (x86-64: yes; arm64 6.12: no)? */
bool pagemap_has_soft_dirty(void);
/* Clears soft-dirty of every page of this process (clear_refs 4). */
void pagemap_clear_soft_dirty(void);

/* Bits of kpage_flags(), numbers from include/uapi/linux/kernel-page-flags.h. */
#define KPF_DIRTY		(1ull << 4)
#define KPF_ANON		(1ull << 12)
#define KPF_SWAPCACHE		(1ull << 13)
#define KPF_SWAPBACKED		(1ull << 14)
#define KPF_COMPOUND_HEAD	(1ull << 15)
#define KPF_COMPOUND_TAIL	(1ull << 16)
#define KPF_HUGE		(1ull << 17)
#define KPF_UNEVICTABLE		(1ull << 18)
#define KPF_KSM			(1ull << 21)
#define KPF_ZERO_PAGE		(1ull << 24)
#define KPF_IDLE		(1ull << 25)
#define KPF_PGTABLE		(1ull << 26)
#define KPF_MLOCKED		(1ull << 33)	/* include/linux/kernel-page-flags.h */

void kpage_flags_range(uint64_t pfn, size_t nr, uint64_t *out);
uint64_t kpage_flags(uint64_t pfn);
uint64_t kpage_count(uint64_t pfn);

#endif
