// SPDX-License-Identifier: GPL-2.0
#include "memory/mask.h"
#include "memory/pattern.h"
#include "memory/range.h"

static bool is_first(size_t page, size_t nr __attribute__((unused)))
{
	return !page;
}

static bool is_last(size_t page, size_t nr)
{
	return page == nr - 1;
}

static bool is_middle(size_t page, size_t nr)
{
	return page == nr / 2;
}

static bool is_even(size_t page, size_t nr __attribute__((unused)))
{
	return page % 2 == 0;
}

static bool is_odd(size_t page, size_t nr)
{
	return page % 2 || nr == 1;
}

static bool not_first(size_t page, size_t nr)
{
	return page || nr == 1;
}

static bool not_last(size_t page, size_t nr)
{
	return page != nr - 1 || nr == 1;
}

static bool in_low_half(size_t page, size_t nr)
{
	return page < nr - nr / 2;
}

static bool in_high_half(size_t page, size_t nr)
{
	return page >= nr / 2;
}

static bool is_any(size_t page __attribute__((unused)),
		   size_t nr __attribute__((unused)))
{
	return true;
}

static bool is_none(size_t page __attribute__((unused)),
		    size_t nr __attribute__((unused)))
{
	return false;
}

const struct mask mask_none = { "none", is_none };

const struct mask masks[] = {
	{ "first", is_first },
	{ "last", is_last },
	{ "middle", is_middle },
	{ "even", is_even },
	{ "odd", is_odd },
	{ "all but first", not_first },
	{ "all but last", not_last },
	{ "low half", in_low_half },
	{ "high half", in_high_half },
	{ "all", is_any },
};

_Static_assert(ARRAY_SIZE(masks) == NR_MASKS, "adapt NR_MASKS");

bool masked(const struct mask *mask, size_t page, unsigned long kib)
{
	return mask->has(page % folio_pages(kib), folio_pages(kib));
}

size_t mask_run(const struct mask *mask, size_t *page, size_t pages,
		unsigned long kib)
{
	size_t end;

	while (*page < pages && !masked(mask, *page, kib))
		++*page;
	for (end = *page; end < pages && masked(mask, end, kib); end++)
		;
	return end - *page;
}

size_t mask_first(const struct mask *mask, unsigned long kib)
{
	size_t page = 0;

	while (!masked(mask, page, kib))
		page++;
	return page;
}

void mask_protect(char *at, size_t pages, unsigned long kib,
		  const struct mask *mask, int prot)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run)
		range_protect(page_at(at, n), run, prot);
}

void mask_advise(char *at, size_t pages, unsigned long kib,
		 const struct mask *mask, int advice)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run)
		range_advise(page_at(at, n), run, advice);
}

void mask_write(char *at, size_t pages, unsigned long kib,
		const struct mask *mask, uint64_t seed)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			pattern_write_page(page_at(at, n), seed, n);
	}
}
