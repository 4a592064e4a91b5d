/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the aging cases. An access sets the accessed bit of its entry only
 * if no old TLB entry is used: age_range() flushes the TLB.
 */
#ifndef QUIRE_TESTS_AGING_H
#define QUIRE_TESTS_AGING_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/matrix/trial.h"

/* Clears the accessed bits of this process, and flushes the range. */
void age_range(char *at, size_t pages);
/* Flushes the range only. */
void flush_range(char *at, size_t pages);
/* Reads the pages in the mask. */
void access_pages(const char *at, size_t pages, unsigned long kib,
		  const struct mask *mask);

#endif
