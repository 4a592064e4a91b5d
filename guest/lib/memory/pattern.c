// SPDX-License-Identifier: GPL-2.0
#include "base/spread.h"
#include "base/units.h"
#include "memory/pattern.h"

#define PAGE_WORDS (PAGE_SIZE / sizeof(uint64_t))

struct weyl {
	uint64_t value;
	uint64_t step;
};

static struct weyl page_sequence(uint64_t seed, size_t number)
{
	uint64_t key = spread(spread(seed + 1) + number);

	return (struct weyl){ .value = key, .step = spread(~key) | 1 };
}

void pattern_write_page(void *page, uint64_t seed, size_t number)
{
	struct weyl w = page_sequence(seed, number);
	uint64_t *word = page;
	size_t i;

	for (i = 0; i < PAGE_WORDS; i++, w.value += w.step)
		word[i] = w.value;
}

static long first_wrong_byte(uint64_t is, uint64_t want)
{
	return __builtin_ctzll(is ^ want) / 8;
}

long pattern_verify_page(const void *page, uint64_t seed, size_t number)
{
	struct weyl w = page_sequence(seed, number);
	const volatile uint64_t *word = page;
	size_t i;

	for (i = 0; i < PAGE_WORDS; i++, w.value += w.step) {
		uint64_t is = word[i];

		if (is != w.value)
			return i * sizeof(is) + first_wrong_byte(is, w.value);
	}
	return -1;
}

void pattern_write(void *addr, size_t len, uint64_t seed)
{
	size_t i;

	for (i = 0; i < len / PAGE_SIZE; i++)
		pattern_write_page((char *)addr + i * PAGE_SIZE, seed, i);
}

long pattern_verify(const void *addr, size_t len, uint64_t seed)
{
	size_t i;

	for (i = 0; i < len / PAGE_SIZE; i++) {
		const char *page = (const char *)addr + i * PAGE_SIZE;

		if (pattern_verify_page(page, seed, i) >= 0)
			return i;
	}
	return -1;
}

/* Never zero: the kernel stores pages of zeroes in another way. */
static uint64_t page_word(uint64_t seed, size_t number)
{
	return spread(spread(seed + 1) + number) | 1;
}

void pattern_write_words(void *addr, size_t len, uint64_t seed)
{
	uint64_t *word = addr;
	size_t i;

	for (i = 0; i < len / sizeof(*word); i++)
		word[i] = page_word(seed, i / PAGE_WORDS);
}

long pattern_verify_words(const void *addr, size_t len, uint64_t seed)
{
	const volatile uint64_t *word = addr;
	size_t i;

	for (i = 0; i < len / sizeof(*word); i++) {
		if (word[i] != page_word(seed, i / PAGE_WORDS))
			return i / PAGE_WORDS;
	}
	return -1;
}

long pattern_verify_zero(const void *addr, size_t len)
{
	const volatile uint64_t *word = addr;
	size_t i;

	for (i = 0; i < len / sizeof(*word); i++) {
		if (word[i])
			return i / PAGE_WORDS;
	}
	return -1;
}
