/* SPDX-License-Identifier: GPL-2.0 */
/* Merging pages by KSM now, and only the ones asked for. */
#ifndef QUIRE_KSM_H
#define QUIRE_KSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MADV_MERGEABLE on whole pages. */
void ksm_mergeable(void *addr, size_t len);
/*
 * Let ksmd scan until the pages at a and b are one KSM page, then stop it.
 * Returns its pfn; dies if that does not come to pass.
 */
uint64_t ksm_merge(const void *a, const void *b);
/* Are both mapped to the same KSM page now? */
bool ksm_merged(const void *a, const void *b);

#endif
