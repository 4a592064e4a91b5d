/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pages hold. A key says who wrote a page, which page of which range it is
 * and how often pages there were written before; a page of it says so itself.
 * Key 0 is a page of zeroes.
 */
#ifndef QUIRE_SOAK_CONTENT_H
#define QUIRE_SOAK_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define PAGE_WORDS	(PAGE_SIZE / sizeof(uint64_t))
/* The owner of what pages of any range hold in common, for KSM. */
#define OWNER_ALL	0xffffu
#define MAX_GENERATION	((1u << 28) - 1)

uint64_t key_make(uint32_t owner, unsigned int range, size_t page,
		  uint32_t generation);
uint64_t key_same(unsigned int number);

void content_fill(void *page, uint64_t key);
/* One word of it. */
uint64_t content_word(uint64_t key, size_t i);
/* The first word that is not as it should be; PAGE_WORDS: none. */
size_t content_wrong(const void *page, uint64_t key);
/* The first word from `from` on that is not zero. */
size_t content_not_zero(const void *page, size_t from);

/* In words: what a key means; what a page holds. */
#define CONTENT_TEXT	200
void key_text(uint64_t key, char *text);
void content_text(const void *page, char *text);

#endif
