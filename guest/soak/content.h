/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contents of pages. A key says which process wrote a page, which page of which
 * range it is, and how often pages of the range were written before. The
 * contents encode the key. Key 0 is a page of zeroes.
 */
#ifndef QUIRE_SOAK_CONTENT_H
#define QUIRE_SOAK_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define PAGE_WORDS	(PAGE_SIZE / sizeof(uint64_t))
/* The owner in the keys of contents that all ranges share, for KSM. */
#define OWNER_ALL	0xffffu
#define MAX_GENERATION	((1u << 28) - 1)

uint64_t key_make(uint32_t owner, unsigned int range, size_t page,
		  uint32_t generation);
uint64_t key_same(unsigned int number);

void content_fill(void *page, uint64_t key);
/* One word of the contents. */
uint64_t content_word(uint64_t key, size_t i);
/* The first word that is wrong; PAGE_WORDS if there is none. */
size_t content_wrong(const void *page, uint64_t key);
/* The first word from `from` on that is not zero. */
size_t content_not_zero(const void *page, size_t from);

/* As text: the meaning of a key; the contents of a page. */
#define CONTENT_TEXT	200
void key_text(uint64_t key, char *text);
void content_text(const void *page, char *text);

#endif
