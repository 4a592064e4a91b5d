/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that consists of folios of one wanted size, and proof that it does. */
#ifndef QUIRE_FOLIO_H
#define QUIRE_FOLIO_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Folio sizes are in KiB: 4 (no large folios), 16 ... 2048, powers of two, 8
 * excepted (the kernel has no such anonymous folios). Anonymous faults from now
 * on get this size wherever it fits, else 4 KiB; system-wide, until changed.
 */
void folio_want(unsigned long kib);
/* The same for shmem: tmpfs is not affected, shared anonymous and memfd are. */
void folio_want_shmem(unsigned long kib);

bool folio_size_valid(unsigned long kib);

/*
 * folio_want() and map len bytes of private anonymous memory: exactly at `at`
 * (which must be free), or, when `at` is NULL, at an address aligned to
 * PMD_SIZE. Nothing is touched: a first write to any byte of a naturally
 * aligned block of the wanted size brings in one folio.
 */
char *folio_map(void *at, size_t len, unsigned long kib);
/* folio_map() and fill by pattern_write(); dies if a folio has not that size. */
char *folio_map_filled(void *at, size_t len, unsigned long kib,
		       unsigned long seed);

/*
 * Is the naturally aligned block of kib at addr exactly one folio, wholly
 * mapped in order? By pagemap and the head and tail flags in kpageflags.
 */
bool folio_is_size(const void *addr, unsigned long kib);
/* How many blocks of [addr, addr + len) are; *total gets the block count. */
size_t folio_count(const void *addr, size_t len, unsigned long kib,
		   size_t *total);
/* KiB of [addr, addr + len) that the VMA at addr maps by PMD (smaps). */
unsigned long folio_pmd_mapped_kib(const void *addr);

#endif
