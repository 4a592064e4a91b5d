// SPDX-License-Identifier: GPL-2.0
/*
 * Times a loop of two kernels in turn, on the same pages: with data early, late or nowhere; in the
 * first cache, or in none. A line of output is a pair of runs: data, memory, ps a page of A, of B.
 * Exits with 1 if the two do not say the same of a page.
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

static const struct {
	const char *name;
	int word;
} data[] = {
	/* Of 512 words of a page; the last is one that a search may look at first. */
	{ "early", 0 },
	{ "late", 510 },
	{ "never", NOWHERE },
};

static char memory[PAGES * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

/* Take all pages out of the caches. */
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
static uint64_t run(bool (*leaf)(void *page), bool cold, bool expected)
{
	size_t step = cold ? PAGE_SIZE : 0;
	unsigned int agree = 0;
	uint64_t start;

	if (cold)
		make_cold();
	else
		leaf(memory);
	start = now_ns();
	for (size_t page = 0; page < PAGES; page++)
		agree += leaf(memory + page * step) == expected;
	if (agree != PAGES) {
		fprintf(stderr, "a page was taken for one with other data\n");
		exit(1);
	}
	return (now_ns() - start) * 1000 / PAGES;
}

static void pairs(const char *name, bool cold, bool expected)
{
	for (int pair = 0; pair < PAIRS; pair++) {
		uint64_t a = 0, b;

		if (pair % 2)
			a = run(leaf_a, cold, expected);
		b = run(leaf_b, cold, expected);
		if (pair % 2 == 0)
			a = run(leaf_a, cold, expected);
		printf("%s %s %" PRIu64 " %" PRIu64 "\n", name, cold ? "cold" : "hot", a, b);
	}
}

int main(void)
{
	for (size_t kind = 0; kind < sizeof(data) / sizeof(*data); kind++) {
		int word = data[kind].word;

		memset(memory, 0, sizeof(memory));
		for (size_t page = 0; word != NOWHERE && page < PAGES; page++)
			memory[page * PAGE_SIZE + (size_t)word * sizeof(long)] = 1;
		pairs(data[kind].name, false, word == NOWHERE);
		pairs(data[kind].name, true, word == NOWHERE);
	}
	return 0;
}
