/* SPDX-License-Identifier: GPL-2.0 */
/* Let KSM merge given pages at once. */
#ifndef QUIRE_KSM_H
#define QUIRE_KSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MADV_MERGEABLE on whole pages. */
void ksm_mergeable(void *addr, size_t len);
/*
 * Lets ksmd scan until the pages at a and b are one KSM page, then stops it.
 * Returns the pfn of that page. Dies if they are not merged in time.
 */
uint64_t ksm_merge(const void *a, const void *b);
/* Do both addresses map the same KSM page now? */
bool ksm_merged(const void *a, const void *b);

#endif
