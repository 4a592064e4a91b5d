// SPDX-License-Identifier: GPL-2.0
/* Operations on single pages, which race with all others. */
#include "ops.h"
#include "page.h"

/* The number of contents that pages of all ranges and processes share. */
#define COMMON	6u
#define MANY	16u
/* The next operation is done to so many pages around a held page. */
#define HELD	16u

bool do_read(struct actor *self, struct range *range)
{
	size_t page = below(self, range->pages);

	if (!page_take(range, page))
		return false;
	page_verify(range, page);
	page_release(range, page);
	return true;
}

bool do_read_many(struct actor *self, struct range *range)
{
	size_t first = below(self, range->pages), n, end = first + MANY;

	for (n = first; n < range->pages && n < end; n++) {
		if (!page_take(range, n))
			continue;
		page_verify(range, n);
		page_release(range, n);
	}
	return true;
}

static bool write_to(struct actor *self, struct range *range, size_t page,
		     uint64_t key)
{
	bool written;

	if (!page_take(range, page))
		return false;
	/*
	 * Sometimes without a check before, so that the write itself faults the
	 * page in.
	 */
	if (!one_in(self, 3))
		page_verify(range, page);
	written = page_write(range, page, key);
	if (!written)
		page_poke(range, page);
	page_release(range, page);
	note(self, range, page, 1, written);
	return true;
}

bool do_write(struct actor *self, struct range *range)
{
	size_t page = below(self, range->pages);

	return write_to(self, range, page, page_new_key(range, page));
}

bool do_write_common(struct actor *self, struct range *range)
{
	return write_to(self, range, below(self, range->pages),
			key_same(below(self, COMMON)));
}

bool do_write_zero(struct actor *self, struct range *range)
{
	return write_to(self, range, below(self, range->pages), 0);
}

/* A page is mapped at its place and nowhere else, nor is it in a TLB. */
bool do_look_elsewhere(struct actor *self, struct range *range)
{
	size_t first = below(self, range->pages), n;

	pthread_mutex_lock(&range->layout);
	for (n = first; n < range->pages && n < first + 4; n++)
		page_expect_nowhere_else(range, n);
	pthread_mutex_unlock(&range->layout);
	return true;
}

static void check_held(struct range *range, size_t page, const void *copy)
{
	const struct page *is = &range->model->page[page];
	char want[CONTENT_TEXT], got[CONTENT_TEXT];

	if (is->unknown || content_wrong(copy, is->key) == PAGE_WORDS ||
	    (is->lazy && content_not_zero(copy, 0) == PAGE_WORDS))
		return;
	key_text(is->key, want);
	content_text(copy, got);
	violation(range, page, "a reference to the page must read %s%s, it "
		  "reads %s", want, is->lazy ? " (or zero)" : "", got);
}

void hold_drop(struct actor *self)
{
	static __thread uint64_t copy[MOST_PAGE_SIZE / sizeof(uint64_t)];
	struct range *range = self->held;

	if (!range)
		return;
	if (self->hold.held) {
		page_verify(range, self->held_page);
		hold_read(&self->hold, copy);
		check_held(range, self->held_page, copy);
	}
	hold_end(&self->hold);
	page_release(range, self->held_page);
	self->held = NULL;
}

/*
 * Holds an extra reference to a page for some operations. Meanwhile its
 * contents must not change; everything else may.
 */
static void hold_take(struct actor *self, struct range *range, size_t page)
{
	uint32_t at;

	self->held = range;
	self->held_page = page;
	self->hold = hold_start();
	pthread_mutex_lock(&range->layout);
	at = where(range, page);
	if (!(at & ABSENT))
		hold_page(&self->hold, place(range, at, page));
	pthread_mutex_unlock(&range->layout);
}

bool do_hold(struct actor *self, struct range *range)
{
	size_t page = below(self, range->pages);

	if (self->held) {
		hold_drop(self);
		return true;
	}
	if (!page_take(range, page))
		return false;
	hold_take(self, range, page);
	note(self, range, page, 1, 0);
	run_follow_up(self, range, page / HELD * HELD, HELD);
	return true;
}
