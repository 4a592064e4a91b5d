// SPDX-License-Identifier: GPL-2.0
/*
 * Times a loop of two kernels in turn, on the same pages, which have data in one word or none; in
 * the first cache, or in no cache. A fence before each page keeps one from overlapping the next.
 * A line of output is a pair of runs: data, memory, ps a page of A, of B. The first lines are of a
 * loop that reads nothing, on both sides. Exits with 1 if a loop is wrong about a page.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "leaf.h"

#define PAGES		64	/* of a run */
#define PAIRS		101
#define LINE		64
#define NOWHERE		(-1)

struct side {
	char name;
	bool (*leaf)(void *page);
};

struct kind {
	const char *name;
	int word;	/* of 512 that a page has */
};

static const struct kind kinds[] = {
	{ "word-0", 0 },	 { "word-1", 1 },     { "word-256", 256 },
	{ "word-510", 510 }, { "word-511", 511 }, { "none", NOWHERE },
};

static char memory[PAGES * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

static bool reads_nothing(void *page)
{
	(void)page;
	return true;
}

/* Nothing is read before all that was read is there. */
static void fence(void)
{
#ifdef __x86_64__
	asm volatile("lfence" : : : "memory");
#else
	asm volatile("dsb sy; isb" : : : "memory");
#endif
}

/* Take all pages out of the caches; their TLB entries stay. */
static void make_cold(void)
{
	for (size_t at = 0; at < sizeof(memory); at += LINE) {
#ifdef __x86_64__
		asm volatile("clflush %0" : "+m"(memory[at]));
#else
		asm volatile("dc civac, %0" : : "r"(memory + at) : "memory");
#endif
	}
#ifdef __x86_64__
	asm volatile("mfence" : : : "memory");
#else
	asm volatile("dsb sy" : : : "memory");
#endif
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ps a page; for what is hot all reads are of one page. */
static uint64_t run(const struct side *side, const struct kind *kind, bool cold)
{
	bool expected = kind->word == NOWHERE;
	size_t step = cold ? PAGE_SIZE : 0;
	unsigned int right = 0;
	uint64_t start;

	if (cold)
		make_cold();
	else
		side->leaf(memory);
	start = now_ns();
	for (size_t page = 0; page < PAGES; page++) {
		fence();
		right += side->leaf(memory + page * step) == expected;
	}
	fence();
	start = now_ns() - start;
	if (right != PAGES) {
		fflush(stdout);
		fprintf(stderr, "side %c is wrong about %u of %u pages, data in %s\n", side->name,
			PAGES - right, PAGES, kind->name);
		exit(1);
	}
	return start * 1000 / PAGES;
}

static void pairs(const struct side *sides, const struct kind *kind, bool cold)
{
	for (int pair = 0; pair < PAIRS; pair++) {
		int first = pair % 2;
		uint64_t spent[2];

		spent[first] = run(&sides[first], kind, cold);
		spent[!first] = run(&sides[!first], kind, cold);
		printf("%s %s %" PRIu64 " %" PRIu64 "\n", kind->name, cold ? "cold" : "hot",
		       spent[0], spent[1]);
	}
}

int main(void)
{
	static const struct side none[] = { { 'a', reads_nothing }, { 'b', reads_nothing } };
	static const struct side both[] = { { 'a', leaf_a }, { 'b', leaf_b } };
	static const struct kind unread = { "unread", NOWHERE };

	pairs(none, &unread, false);
	for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
		const struct kind *kind = &kinds[at];

		memset(memory, 0, sizeof(memory));
		for (size_t page = 0; kind->word != NOWHERE && page < PAGES; page++)
			memory[page * PAGE_SIZE + (size_t)kind->word * sizeof(uint64_t)] = 1;
		pairs(both, kind, false);
		pairs(both, kind, true);
	}
	return 0;
}
