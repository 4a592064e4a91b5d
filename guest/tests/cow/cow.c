// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/resource.h>

#include "cow.h"
#include "memory/pattern.h"

#define WORDS	(PAGE_SIZE / sizeof(uint64_t))
#define PLACES	512u	/* words of the smallest page */

/* Another word for each page, so that no two pages can be mixed up. */
static size_t word_number(size_t page)
{
	return page * 7 % PLACES;
}

static volatile uint64_t *word_at(const char *at, size_t page)
{
	return (volatile uint64_t *)(at + page * PAGE_SIZE) + word_number(page);
}

void cow_mark(char *at, size_t page, uint64_t value)
{
	*word_at(at, page) = value;
}

uint64_t cow_word(const char *at, size_t page)
{
	return *word_at(at, page);
}

void cow_expect_rest(const char *at, size_t page)
{
	static uint64_t is[MOST_PAGE_SIZE / sizeof(uint64_t)];
	static uint64_t want[MOST_PAGE_SIZE / sizeof(uint64_t)];
	const uint64_t *words = (const uint64_t *)(at + page * PAGE_SIZE);
	size_t n;

	pattern_write_page(want, SEED, page);
	for (n = 0; n < WORDS; n++)
		is[n] = words[n];
	is[word_number(page)] = want[word_number(page)];
	EXPECT(pattern_verify_page(is, SEED, page) < 0,
	       "page %zu lost what was not written to", page);
}

unsigned long cow_faults(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		die_errno("getrusage");
	return usage.ru_minflt;
}

unsigned long cow_mark_all(char *at, size_t pages, unsigned long kib,
			   const struct mask *mask, uint64_t value)
{
	unsigned long before;
	size_t n;

	cow_faults();	/* the pages of this program, too, may have been shared */
	before = cow_faults();
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			cow_mark(at, n, value);
	}
	return cow_faults() - before;
}

void cow_expect(const char *at, size_t pages, unsigned long kib,
		const struct mask *mask, uint64_t value)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			EXPECT(cow_word(at, n) == value,
			       "page %zu has word %#llx, not %#llx", n,
			       (unsigned long long)cow_word(at, n),
			       (unsigned long long)value);
		cow_expect_rest(at, n);
	}
}

size_t cow_same_frames(const struct snapshot *before, const char *at)
{
	struct snapshot *now = snapshot(at, before->pages);
	size_t n, same = 0;

	for (n = 0; n < before->pages; n++)
		same += now->page[n].present &&
			now->page[n].pfn == before->page[n].pfn;
	free(now);
	return same;
}
