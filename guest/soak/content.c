// SPDX-License-Identifier: GPL-2.0
/*
 * Three kinds of contents: words that all differ; the same word throughout
 * (zram stores no page for it); one word and zeroes (the swap code treats pages
 * of zeroes specially).
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/spread.h"
#include "content.h"

/* The fields of a key. */
#define OWNER_SHIFT	48
#define RANGE_SHIFT	40
#define PAGE_SHIFT	28

enum fill { DISTINCT, EVEN, LONE };

struct filling {
	enum fill fill;
	uint64_t key;
	uint64_t value, step;	/* DISTINCT: of word 0, and from word to word */
	size_t lone;		/* LONE: the word that is not zero */
};

uint64_t key_make(uint32_t owner, unsigned int range, size_t page,
		  uint32_t generation)
{
	return (uint64_t)owner << OWNER_SHIFT | (uint64_t)range << RANGE_SHIFT |
	       (uint64_t)page << PAGE_SHIFT | generation;
}

uint64_t key_same(unsigned int number)
{
	return key_make(OWNER_ALL, 0, number, 1);
}

static struct filling filling_of(uint64_t key)
{
	uint64_t hash = spread(key);

	return (struct filling){
		.fill = hash % 4 == 0 ? EVEN : hash % 4 == 1 ? LONE : DISTINCT,
		.key = key,
		.value = hash,
		.step = spread(~key) | 1,
		.lone = hash / 4 % PAGE_WORDS,
	};
}

static void fill_word(volatile uint64_t *word, uint64_t value)
{
	size_t i;

	for (i = 0; i < PAGE_WORDS; i++)
		word[i] = value;
}

/* Volatile: the page may be dropped meanwhile, so no word is read twice. */
void content_fill(void *page, uint64_t key)
{
	struct filling f = filling_of(key);
	volatile uint64_t *word = page;
	size_t i;

	if (!key || f.fill == EVEN) {
		fill_word(word, key);
	} else if (f.fill == LONE) {
		fill_word(word, 0);
		word[f.lone] = key;
	} else {
		word[0] = key;	/* for content_text() */
		for (i = 1; i < PAGE_WORDS; i++)
			word[i] = f.value += f.step;
	}
}

uint64_t content_word(uint64_t key, size_t i)
{
	struct filling f = filling_of(key);

	if (!key || f.fill == EVEN)
		return key;
	if (f.fill == LONE)
		return i == f.lone ? key : 0;
	return i ? f.value + i * f.step : key;
}

static size_t wrong_word(const volatile uint64_t *word, size_t from,
			 uint64_t value)
{
	while (from < PAGE_WORDS && word[from] == value)
		from++;
	return from;
}

size_t content_not_zero(const void *page, size_t from)
{
	return wrong_word(page, from, 0);
}

size_t content_wrong(const void *page, uint64_t key)
{
	struct filling f = filling_of(key);
	const volatile uint64_t *word = page;
	size_t i;

	if (!key || f.fill == EVEN)
		return wrong_word(word, 0, key);
	if (f.fill == LONE) {
		i = wrong_word(word, 0, 0);
		if (i != f.lone || word[i] != key)
			return i < f.lone ? i : f.lone;
		return wrong_word(word, i + 1, 0);
	}
	if (word[0] != key)
		return 0;
	for (i = 1; i < PAGE_WORDS; i++) {
		if (word[i] != (f.value += f.step))
			return i;
	}
	return PAGE_WORDS;
}

void key_text(uint64_t key, char *text)
{
	unsigned int owner = key >> OWNER_SHIFT;

	if (!key)
		strcpy(text, "zero");
	else if (owner == OWNER_ALL)
		sprintf(text, "common content %u",
			(unsigned int)(key >> PAGE_SHIFT & 0xfff));
	else
		sprintf(text, "generation %u of page %u of range %u, by %u",
			(unsigned int)(key & MAX_GENERATION),
			(unsigned int)(key >> PAGE_SHIFT & 0xfff),
			(unsigned int)(key >> RANGE_SHIFT & 0xff), owner);
}

/* Does the page begin like one of these keys? */
void content_text(const void *page, char *text)
{
	size_t first = content_not_zero(page, 0), right;
	char name[CONTENT_TEXT / 2];
	uint64_t key;

	if (first == PAGE_WORDS) {
		strcpy(text, "zero");
		return;
	}
	key = ((const uint64_t *)page)[first];
	right = content_wrong(page, key);
	key_text(key, name);
	if (right == PAGE_WORDS)
		strcpy(text, name);
	else if (right > 8)
		sprintf(text, "%s, up to word %zu only (%zu)", name, right,
			first);
	else
		sprintf(text, "unknown contents: word %zu is %#llx", first,
			(unsigned long long)key);
}
