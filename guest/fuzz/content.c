// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of pages. Only eight words of each page are written and looked at:
 * the kernel copies, maps and drops whole pages, and the rest stays zero. The
 * first word says who wrote the page and for which place; the others follow
 * from it, and show a page that was put together from two.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "probe.h"

#define WORDS		8u
#define STRIDE		(PAGE_SIZE / WORDS)

#define BY_TAG		0xf022ull
#define BY_CLASS	0xc1a5ull

static uint64_t follow(uint64_t first, unsigned int i)
{
	return i ? (first + i) * 0x9e3779b97f4a7c15ull : first;
}

static int write_words(char *page, uint64_t first)
{
	unsigned int i;
	int sig;

	for (i = 0; i < WORDS; i++) {
		sig = probe_write(page + i * STRIDE, follow(first, i));
		if (sig)
			return sig;
	}
	return 0;
}

int content_write(unsigned int slot, unsigned int page, unsigned int tag)
{
	uint64_t place = slot * SLOT_PAGES + page;

	return write_words(page_addr(slot, page),
			   BY_TAG << 48 | (uint64_t)tag << 32 | place);
}

int content_write_same(char *page, unsigned int class)
{
	return write_words(page, BY_CLASS << 48 | class);
}

static void name_place(char *name, unsigned int tag, uint64_t place)
{
	snprintf(name, CONTENT_LEN, "t%u@%c%u", tag,
		 'A' + (char)(place / SLOT_PAGES),
		 (unsigned int)(place % SLOT_PAGES));
}

/* A page whose words do not belong together: a hash of them. */
static void name_hash(const uint64_t *word, char *name)
{
	uint64_t hash = 0;
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15ull;
	snprintf(name, CONTENT_LEN, "h%08x", (unsigned int)(hash >> 32));
}

static bool all_zero(const uint64_t *word)
{
	uint64_t any = 0;
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		any |= word[i];
	return !any;
}

static bool follows(const uint64_t *word)
{
	unsigned int i;

	for (i = 1; i < WORDS; i++) {
		if (word[i] != follow(word[0], i))
			return false;
	}
	return true;
}

void content_name(const char *page, char *name, char *next)
{
	uint64_t word[WORDS];
	unsigned int i;

	strcpy(name, "!");
	strcpy(next, "!");
	for (i = 0; i < WORDS; i++) {
		if (probe_read(page + i * STRIDE, &word[i]))
			return;
	}
	if (all_zero(word)) {
		strcpy(name, "0");
	} else if (!follows(word)) {
		name_hash(word, name);
	} else if (word[0] >> 48 == BY_CLASS) {
		snprintf(name, CONTENT_LEN, "k%u", (unsigned int)word[0]);
	} else {
		uint64_t place = word[0] & 0xffffffff;
		unsigned int tag = word[0] >> 32 & 0xffff;

		name_place(name, tag, place);
		name_place(next, tag, place + 1);
		return;
	}
	strcpy(next, name);
}

unsigned int content_hash(unsigned int slot, unsigned int page,
			  unsigned int count)
{
	char name[CONTENT_LEN], next[CONTENT_LEN], *c;
	unsigned int hash = 0;

	for (; count; count--, page++) {
		content_name(page_addr(slot, page), name, next);
		for (c = name; *c; c++)
			hash = (hash ^ *c) * 0x01000193u;
	}
	return hash;
}
