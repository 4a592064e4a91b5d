/* SPDX-License-Identifier: GPL-2.0 */
/* khugepaged, which sleeps at all other times (memory/folio.h). */
#ifndef QUIRE_KHUGEPAGED_H
#define QUIRE_KHUGEPAGED_H

#include <stddef.h>

/*
 * Has khugepaged collapse the pages at the beginning of a mapping into a folio
 * of kib. The mapping is len bytes, at least PMD_SIZE, and aligned to that; all
 * pages of the new folio are present. Skips the case if it does not, as 6.12 does
 * not for sizes below PMD_SIZE and for pages that cannot be written to.
 */
void khugepaged_collapse(char *at, size_t len, unsigned long kib);

#endif
