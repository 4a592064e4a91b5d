/* SPDX-License-Identifier: GPL-2.0 */
/* A page and what it holds. All need its lock, except what takes it. */
#ifndef QUIRE_SOAK_PAGE_H
#define QUIRE_SOAK_PAGE_H

#include "soak.h"

bool page_take(struct range *range, size_t page);
void page_release(struct range *range, size_t page);
/* As many from `first` on as can be had. */
size_t pages_take(struct range *range, size_t first, size_t count);
void pages_release(struct range *range, size_t first, size_t count);

/* Around a change of what pages hold. */
void pages_change(struct range *range, size_t first, size_t count);
void pages_changed(struct range *range, size_t first, size_t count);

/* It holds what it must. */
void page_verify(struct range *range, size_t page);
/* Make it hold that key's content; false: it was read-only and stays so. */
bool page_write(struct range *range, size_t page, uint64_t key);
/* What nobody has written before. */
uint64_t page_new_key(const struct range *range, size_t page);
/* A write to a page that is SEALED must fault. */
void page_poke(struct range *range, size_t page);
/* It can be read at neither of its homes. */
void page_expect_absent(struct range *range, size_t page);
/* Nothing is mapped where it is not. */
void page_expect_nowhere_else(struct range *range, size_t page);
/* After a run was given up: every page is zero, or so it may be. */
void pages_zero(struct range *range, size_t first, size_t count);
void pages_lazy(struct range *range, size_t first, size_t count);


/* It has an entry of its own, present or in swap, whatever happens to it. */
static inline bool page_populated(const struct range *range, size_t page)
{
	const struct page *is = &range->model->page[page];

	return is->key && !is->lazy;
}

#endif
