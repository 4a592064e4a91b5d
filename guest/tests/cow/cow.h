/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the cow cases: what a write to a page does that was shared by
 * fork(). If no other process has the page any more, it is reused, with the
 * block around it. Otherwise the process gets a copy, and no other process sees
 * the write.
 */
#ifndef QUIRE_TESTS_COW_H
#define QUIRE_TESTS_COW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/share.h"
#include "tests/matrix/trial.h"

/* Writes one word of a page; cow_check() says whether a page has that word. */
void cow_mark(char *at, size_t page, uint64_t value);
uint64_t cow_word(const char *at, size_t page);
/* The page has the contents of SEED around the word that cow_mark() writes. */
void cow_expect_rest(const char *at, size_t page);

/* How many page faults this process has taken. */
unsigned long cow_faults(void);
/* cow_mark() for all pages of the mask, and how many page faults that takes. */
unsigned long cow_mark_all(char *at, size_t pages, unsigned long kib,
			   const struct mask *mask, uint64_t value);
void cow_expect(const char *at, size_t pages, unsigned long kib,
		const struct mask *mask, uint64_t value);

/* How many pages have the frame that they had before. */
size_t cow_same_frames(const struct snapshot *before, const char *at);

#endif
