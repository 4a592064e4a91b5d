/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that consists of folios of a given size, and checks that it does. */
#ifndef QUIRE_FOLIO_H
#define QUIRE_FOLIO_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Folio sizes are in KiB: PAGE_KIB (no large folios) and powers of two from four
 * pages to PMD_KIB. The kernel has no anonymous folios of two pages. From now on,
 * anonymous faults allocate this size wherever it fits, else single pages: for
 * the whole system, until the next call.
 */
void folio_want(unsigned long kib);
/* The same for shmem: shared anonymous memory and memfd, but not tmpfs. */
void folio_want_shmem(unsigned long kib);

/*
 * khugepaged runs as long as a policy allows folios of PMD_SIZE. When it begins,
 * or the first process with memory for it comes, it looks at once, and would
 * collapse what a test has just mapped. So let it begin now, when there is
 * nothing to collapse, for this process; as long as this process lives, it
 * sleeps as env_quiesce() has told it to. Without MADV_HUGEPAGE, nobody notices.
 */
void folio_quiet_khugepaged(void);

bool folio_size_valid(unsigned long kib);
/*
 * The size, in KiB, that has the place here which kib has where pages are of 4
 * KiB and blocks of 64: so many pages below a block (4, 16), so many blocks (64,
 * 256, 1024; at most half a table), what a PMD maps (2048).
 */
unsigned long folio_size(unsigned long kib);

/*
 * folio_want(), then maps len bytes of private anonymous memory: exactly at
 * `at`, which must be free, or if `at` is NULL, at an address aligned to
 * PMD_SIZE. Touches nothing: the first write to a naturally aligned block of
 * that size allocates one folio for it.
 */
char *folio_map(void *at, size_t len, unsigned long kib);
/* An address aligned to PMD_SIZE with len bytes after it that are not mapped. */
char *folio_hole(size_t len);
/* folio_map() and pattern_write(); dies if a folio has another size. */
char *folio_map_filled(void *at, size_t len, unsigned long kib,
		       unsigned long seed);

/*
 * Is the naturally aligned block of kib at addr exactly one folio, all of it
 * mapped in order? Reads pagemap and the head and tail flags of kpageflags.
 */
bool folio_is_size(const void *addr, unsigned long kib);
/* How many blocks of [addr, addr + len) are; *total is the number of blocks. */
size_t folio_count(const void *addr, size_t len, unsigned long kib,
		   size_t *total);
/* KiB of [addr, addr + len) that the VMA at addr maps by PMD (smaps). */
unsigned long folio_pmd_mapped_kib(const void *addr);

#endif
