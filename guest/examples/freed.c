// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * What reclaim swaps out of memory that a program has freed: blocks fill 32 MiB,
 * most are freed, the allocator passes them on with MADV_FREE, some are allocated
 * again, and reclaim is asked for all of it, twice.
 *
 *	gcc -O2 -static -DJEMALLOC -I guest/include -o freed-jemalloc \
 *		guest/examples/freed.c -ljemalloc -lm -lstdc++ -lpthread -ldl
 *	gcc -O2 -static -DMIMALLOC -I guest/include -I mimalloc/include -I mimalloc/src \
 *		-o freed-mimalloc guest/examples/freed.c mimalloc/src/static.c -lpthread
 *	cp guest/examples/freed.toml freed-jemalloc.toml
 *	quire bench --workload freed-jemalloc --base 7.3 ARCH=x86_64
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "quire.h"

#define TOTAL	(32ul << 20)
#define LEAST	512ul
#define MAX_BLOCKS	(TOTAL / LEAST)

struct block {
	uint64_t *words, seed;
	size_t size;
};

static struct block blocks[MAX_BLOCKS];
static uint64_t state = 1;
/* Bytes of the largest block; per cent of the blocks kept, and allocated again. */
static unsigned long most = 8192, kept = 10, again = 5;

#ifdef JEMALLOC
/* After a tenth of a second, freed pages go by MADV_FREE, and are not freed further. */
const char *malloc_conf = "dirty_decay_ms:100,muzzy_decay_ms:-1,narenas:1,tcache:false";
int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t len);

static void set_up(void)
{
}

static void let_go(void)
{
	for (int n = 0; n < 20; n++) {
		usleep(20000);
		mallctl("arena.0.decay", NULL, NULL, NULL, 0);
	}
}
#elif defined(MIMALLOC)
#include <mimalloc.h>

#define malloc mi_malloc
#define free mi_free

/* Freed pages go by MADV_FREE after a tenth of a second. */
static void set_up(void)
{
	mi_option_set(mi_option_purge_decommits, 0);
	mi_option_set(mi_option_purge_delay, 10);
	mi_option_set(mi_option_arena_purge_mult, 1);
}

static void let_go(void)
{
	usleep(200000);
	mi_collect(false);
}
#else
static void set_up(void)
{
}

static void let_go(void)
{
}
#endif

static uint64_t next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static uint64_t word(uint64_t seed, size_t at)
{
	uint64_t mixed = (seed + at) * 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
	return mixed ^ mixed >> 32;
}

static bool allocate(struct block *block)
{
	block->size = (LEAST + next() % (most - LEAST)) & ~7ul;
	block->seed = next();
	block->words = malloc(block->size);
	for (size_t at = 0; block->words && at < block->size / 8; at++)
		block->words[at] = word(block->seed, at);
	return block->words;
}

static void check(const struct block *block)
{
	for (size_t at = 0; at < block->size / 8; at++) {
		if (block->words[at] != word(block->seed, at)) {
			quire_fail("a block of %zu bytes has wrong data", block->size);
			return;
		}
	}
}

/* KiB of a line of smaps_rollup. */
static unsigned long rollup(const char *name)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	unsigned long kib = 0;
	char line[200];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), "%lu", &kib);
	}
	if (file)
		fclose(file);
	return kib;
}

struct range {
	unsigned long start, end;
};

/* All writable anonymous memory but the stack and this program's data. */
static size_t heap(struct range *ranges, size_t max)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[300], access[8], path[200];
	struct range range;
	size_t n = 0;

	while (maps && n < max && fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %199s", &range.start,
			   &range.end, access, path) >= 3 &&
		    access[1] == 'w' && (!path[0] || !strcmp(path, "[heap]") ||
					 !strncmp(path, "[anon", 5)))
			ranges[n++] = range;
	}
	if (maps)
		fclose(maps);
	return n;
}

static struct range ranges[1000];

int main(int argc, char **argv)
{
	size_t total = 0, nr = 0, n, nr_ranges;
	unsigned long lazyfree;

	for (int at = 1; at < argc; at++) {
		sscanf(argv[at], "most=%lu", &most);
		sscanf(argv[at], "kept=%lu", &kept);
		sscanf(argv[at], "again=%lu", &again);
	}
	set_up();
	while (total < TOTAL && nr < MAX_BLOCKS && allocate(&blocks[nr]))
		total += blocks[nr++].size;
	for (n = 0; n < nr; n++) {
		if (next() % 100 >= kept) {
			free(blocks[n].words);
			blocks[n].words = NULL;
		}
	}
	let_go();
	lazyfree = rollup("LazyFree:");
	for (n = 0; n < nr; n++) {
		if (!blocks[n].words && next() % 100 < again && !allocate(&blocks[n]))
			quire_fail("no memory");
	}
	nr_ranges = heap(ranges, sizeof(ranges) / sizeof(*ranges));
	quire_start();
	for (int call = 0; call < 2; call++) {
		for (n = 0; n < nr_ranges; n++)
			madvise((void *)ranges[n].start,
				ranges[n].end - ranges[n].start, MADV_PAGEOUT);
	}
	quire_stop();
	quire_pages(total / 4096);
	quire_counter("lazyfree_kib", 0, lazyfree);
	quire_counter("swapped_kib", 0, rollup("Swap:"));
	quire_counter("present_kib", 0, rollup("Anonymous:"));
	total = 0;
	for (n = 0; n < nr; n++) {
		if (blocks[n].words) {
			check(&blocks[n]);
			total += blocks[n].size;
		}
	}
	quire_counter("in_use_kib", 0, total / 1024);
	return 0;
}
