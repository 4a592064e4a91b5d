// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/param.h>
#include <unistd.h>

#include "proc/idle.h"
#include "proc/idle_range.h"
#include "proc/pagemap.h"
#include "report/die.h"

struct idle_range {
	int fd;
	/* The words from that of the first page to that of the last. */
	uint64_t first;
	size_t words;
	uint64_t *mask;	/* the bits of our pages */
	uint64_t *idle;	/* what the kernel says */
};

static void set_masks(struct idle_range *range, const struct page_state *state,
		      size_t pages)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t n;

	for (n = 0; n < pages; n++) {
		if (!state[n].present)
			die("page %zu is not present", n);
		first = MIN(first, state[n].pfn);
		last = MAX(last, state[n].pfn);
	}
	range->first = first / IDLE_BITS;
	range->words = last / IDLE_BITS - range->first + 1;
	range->mask = allocate(range->words, sizeof(*range->mask));
	range->idle = allocate(range->words, sizeof(*range->idle));
	for (n = 0; n < pages; n++)
		range->mask[state[n].pfn / IDLE_BITS - range->first] |=
			1ull << state[n].pfn % IDLE_BITS;
}

struct idle_range *idle_range_open(const void *addr, size_t pages)
{
	struct page_state *state = allocate(pages, sizeof(*state));
	struct idle_range *range = allocate(1, sizeof(*range));

	range->fd = idle_bitmap();
	pagemap_read(addr, pages, state);
	set_masks(range, state, pages);
	free(state);
	return range;
}

/* The length of the next words, from *word on, that all have bits of ours. */
static size_t next_run(const struct idle_range *range, size_t *word)
{
	size_t end;

	while (*word < range->words && !range->mask[*word])
		++*word;
	for (end = *word; end < range->words && range->mask[end]; end++)
		;
	return (end - *word) * sizeof(uint64_t);
}

static off_t offset_of(const struct idle_range *range, size_t word)
{
	return (range->first + word) * sizeof(uint64_t);
}

void idle_range_mark(const struct idle_range *range)
{
	size_t word = 0, len;

	for (; (len = next_run(range, &word)); word += len / sizeof(uint64_t)) {
		if (pwrite(range->fd, &range->mask[word], len,
			   offset_of(range, word)) != (ssize_t)len)
			die_errno("cannot mark %zu words of pages idle", len / 8);
	}
}

void idle_range_look(struct idle_range *range)
{
	size_t word = 0, len;

	for (; (len = next_run(range, &word)); word += len / sizeof(uint64_t)) {
		if (pread(range->fd, &range->idle[word], len,
			  offset_of(range, word)) != (ssize_t)len)
			die_errno("cannot read %zu words of the bitmap", len / 8);
	}
}

size_t idle_range_count(const struct idle_range *range)
{
	size_t word, found = 0;

	for (word = 0; word < range->words; word++)
		found += __builtin_popcountll(range->idle[word] &
					      range->mask[word]);
	return found;
}

void idle_range_close(struct idle_range *range)
{
	close(range->fd);
	free(range->mask);
	free(range->idle);
	free(range);
}
