/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page and its contents. All functions need its lock, except those that take
 * it.
 */
#ifndef QUIRE_SOAK_PAGE_H
#define QUIRE_SOAK_PAGE_H

#include "soak.h"

bool page_take(struct range *range, size_t page);
void page_release(struct range *range, size_t page);
/* Takes as many from `first` on as possible. */
size_t pages_take(struct range *range, size_t first, size_t count);
void pages_release(struct range *range, size_t first, size_t count);

/* Call before and after a change of contents. */
void pages_change(struct range *range, size_t first, size_t count);
void pages_changed(struct range *range, size_t first, size_t count);

/* Checks the contents. */
void page_verify(struct range *range, size_t page);
/* Writes that key's contents; false if the page was read-only, and still is. */
bool page_write(struct range *range, size_t page, uint64_t key);
/* A key for contents that were never written before. */
uint64_t page_new_key(const struct range *range, size_t page);
/* A write to a page that is SEALED must fault. */
void page_poke(struct range *range, size_t page);
/* The page cannot be read at either of its homes. */
void page_expect_absent(struct range *range, size_t page);
/* Nothing is mapped at its other home. */
void page_expect_nowhere_else(struct range *range, size_t page);
/* After a run was dropped: every page is zero, or may be. */
void pages_zero(struct range *range, size_t first, size_t count);
void pages_lazy(struct range *range, size_t first, size_t count);


/* It has an entry of its own, present or in swap, at all times. */
static inline bool page_populated(const struct range *range, size_t page)
{
	const struct page *is = &range->model->page[page];

	return is->key && !is->lazy;
}

#endif
