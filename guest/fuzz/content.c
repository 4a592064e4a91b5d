// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of pages. Only eight words of each page are written and looked at:
 * the kernel copies, maps and drops whole pages, and the rest stays zero. The
 * first word says who wrote the page and for which place; the others follow
 * from it, and show a page that was put together from two.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

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
	uint64_t word[WORDS];
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		word[i] = follow(first, i);
	return probe_write_words(page, STRIDE, word, WORDS);
}

bool content_is_void(const char *page)
{
	return epoll_ctl(-1, EPOLL_CTL_ADD, -1, (struct epoll_event *)page) &&
	       errno == EFAULT;
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

/* A page whose words do not belong together: a hash of them. */
static uint64_t hash_words(const uint64_t *word)
{
	uint64_t hash = 0;
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15ull;
	return hash >> 32;
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

struct content content_read(const char *page)
{
	uint64_t word[WORDS];

	if (probe_read_words(page, STRIDE, word, WORDS))
		return (struct content){ UNREADABLE, 0 };
	if (all_zero(word))
		return (struct content){ ZERO, 0 };
	if (!follows(word))
		return (struct content){ TORN, hash_words(word) };
	if (word[0] >> 48 == BY_CLASS)
		return (struct content){ CLASS, (uint32_t)word[0] };
	return (struct content){ TAGGED, word[0] };
}

static void say_tagged(uint64_t word)
{
	uint64_t place = word & 0xffffffff;

	say_text(":t");
	say_number(word >> 32 & 0xffff);
	say_bytes((char[]){ '@', 'A' + (char)(place / SLOT_PAGES) }, 2);
	say_number(place % SLOT_PAGES);
}

void content_say(struct content content)
{
	switch (content.kind) {
	case NOTHING:
		return;
	case UNREADABLE:
		say_text(":!");
		return;
	case ZERO:
		say_text(":0");
		return;
	case TORN:
		say(":h%08x", (unsigned int)content.value);
		return;
	case CLASS:
		say_text(":k");
		say_number(content.value);
		return;
	case TAGGED:
		say_tagged(content.value);
		return;
	}
}

unsigned int content_hash(unsigned int slot, unsigned int page,
			  unsigned int count)
{
	uint64_t hash = 0;

	for (; count; count--, page++) {
		struct content content = content_read(page_addr(slot, page));

		hash = (hash ^ content.kind ^ content.value) *
		       0x9e3779b97f4a7c15ull;
	}
	return hash >> 32;
}
