// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of pages. Only eight words of each page are written and checked: the
 * kernel copies, maps and drops whole pages, and the rest stays zero. The first
 * word says which operation wrote the page, and for which place. The others
 * follow from it, so a page that is mixed from two is noticed.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "fuzz.h"
#include "memory/probe.h"

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

struct call content_probe(const char *page)
{
	return call_of(__NR_epoll_ctl, -1, EPOLL_CTL_ADD, -1, (uintptr_t)page);
}

bool content_is_void(const struct call *probe)
{
	return probe->result == -EFAULT;
}

void content_touch(const char *word, unsigned int pages, bool writes)
{
	unsigned int nr;

	if (!calls_cost_less())
		return;
	for (nr = 0; pages; pages--, word += PAGE_SIZE) {
		arena->call[nr++] = writes ?
			call_of(__NR_getcpu, (uintptr_t)word, 0, 0, 0) :
			content_probe(word);
		if (nr < MAX_CALLS && pages > 1)
			continue;
		calls_make(arena->call, nr);
		nr = 0;
	}
}

static uint64_t tagged(unsigned int slot, unsigned int page, unsigned int tag)
{
	uint64_t place = slot * SLOT_PAGES + page;

	return BY_TAG << 48 | (uint64_t)tag << 32 | place;
}

int content_write(unsigned int slot, unsigned int page, unsigned int tag)
{
	return write_words(page_addr(slot, page), tagged(slot, page, tag));
}

/*
 * Pages with a single word are rare, and only checked for if a program makes
 * some.
 */
static bool single_words;

int content_write_word(unsigned int slot, unsigned int page, unsigned int tag,
		       unsigned int number)
{
	char *word = page_addr(slot, page) +
		     number % PAGE_WORDS * WORD_STRIDE;

	return probe_write(word, tagged(slot, page, tag));
}

void content_expect(bool words)
{
	single_words = words;
}

int content_write_same(char *page, unsigned int class)
{
	return write_words(page, BY_CLASS << 48 | class);
}

/* A page whose words do not belong together: a hash of them. */
static uint64_t hash_words(const uint64_t *word, unsigned int nr)
{
	uint64_t hash = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
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

/* A page that is zero except for one word, or has unknown contents. */
static struct content find_word(const char *page)
{
	struct content found = { .kind = ZERO };
	uint64_t word[PAGE_WORDS];
	unsigned int i;

	if (probe_read_words(page, WORD_STRIDE, word, PAGE_WORDS))
		return (struct content){ .kind = UNREADABLE };
	for (i = 0; i < PAGE_WORDS; i++) {
		if (!word[i])
			continue;
		if (found.kind != ZERO)
			return (struct content){
				TORN, 0, hash_words(word, PAGE_WORDS)
			};
		found = (struct content){ WORD, i, word[i] };
	}
	return found;
}

struct content content_read(const char *page)
{
	uint64_t word[WORDS];

	if (probe_read_words(page, STRIDE, word, WORDS))
		return (struct content){ .kind = UNREADABLE };
	if (single_words && (all_zero(word) || !follows(word)))
		return find_word(page);
	if (all_zero(word))
		return (struct content){ .kind = ZERO };
	if (!follows(word))
		return (struct content){ TORN, 0, hash_words(word, WORDS) };
	if (word[0] >> 48 == BY_CLASS)
		return (struct content){ CLASS, 0, (uint32_t)word[0] };
	return (struct content){ TAGGED, 0, word[0] };
}

static void say_tagged(struct content content)
{
	uint64_t place = content.value & 0xffffffff;

	say_text(":t");
	say_number(content.value >> 32 & 0xffff);
	if (content.kind == WORD) {
		say_text(".");
		say_number(content.number);
	}
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
	case WORD:
		say_tagged(content);
		return;
	}
}

unsigned int content_hash(unsigned int slot, unsigned int page,
			  unsigned int count)
{
	uint64_t hash = 0;

	for (; count; count--, page++) {
		struct content content = content_read(page_addr(slot, page));

		hash ^= content.kind ^ content.number ^ content.value;
		hash *= 0x9e3779b97f4a7c15ull;
	}
	return hash >> 32;
}
