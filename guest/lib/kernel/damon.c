// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/damon.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "report/die.h"

#define KDAMONDS	"/sys/kernel/mm/damon/admin/kdamonds"
#define KDAMOND		KDAMONDS "/0"
#define CONTEXT		KDAMOND "/contexts/0"
#define ATTRS		CONTEXT "/monitoring_attrs"
#define REGIONS		CONTEXT "/targets/0/regions"
#define SCHEME		CONTEXT "/schemes/0"
#define TRIED		SCHEME "/tried_regions"
#define STATS		SCHEME "/stats"
#define FILTERS		SCHEME "/ops_filters"

struct block {
	uint64_t start;		/* physical address */
	size_t number;		/* in the order of addresses */
};

static struct {
	struct block *blocks;	/* in the order of `start` */
	size_t nr;
	size_t len;
} watched;

bool damon_available(void)
{
	return !access(KDAMONDS "/nr_kdamonds", F_OK);
}

static int by_start(const void *a, const void *b)
{
	const struct block *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static void new_blocks(size_t nr, size_t len)
{
	watched.blocks = allocate(nr, sizeof(*watched.blocks));
	watched.nr = nr;
	watched.len = len;
}

static void find_blocks(const char *at, size_t nr, size_t len)
{
	size_t n;

	new_blocks(nr, len);
	for (n = 0; n < nr; n++) {
		struct page_state page = pagemap_page(at + n * len);

		if (!page.present)
			die("page %zu is not present", n * len / PAGE_SIZE);
		watched.blocks[n] = (struct block){
			.start = page.pfn * PAGE_SIZE, .number = n
		};
	}
	qsort(watched.blocks, nr, sizeof(*watched.blocks), by_start);
}

static void write_regions(void)
{
	char path[128];
	size_t n;

	write_file(REGIONS "/nr_regions", "%zu", watched.nr);
	for (n = 0; n < watched.nr; n++) {
		uint64_t start = watched.blocks[n].start;

		snprintf(path, sizeof(path), REGIONS "/%zu/start", n);
		write_file(path, "%llu", (unsigned long long)start);
		snprintf(path, sizeof(path), REGIONS "/%zu/end", n);
		write_file(path, "%llu",
			   (unsigned long long)start + watched.len);
	}
}

/*
 * With as many regions as the limits demand, none is split. None is merged, as
 * one of two blocks is larger than a share of the whole.
 */
static void write_attrs(unsigned int sample_ms, unsigned int window_ms)
{
	if (watched.nr < DAMON_MIN_REGIONS)
		die("DAMON has at least %d regions, not %zu", DAMON_MIN_REGIONS,
		    watched.nr);
	write_file(ATTRS "/intervals/sample_us", "%u", sample_ms * 1000);
	write_file(ATTRS "/intervals/aggr_us", "%u", window_ms * 1000);
	/* The regions do not follow mappings that change. */
	write_file(ATTRS "/intervals/update_us", "%lu", 1000000 * 3600ul);
	write_file(ATTRS "/nr_regions/max", "%zu", watched.nr);
	write_file(ATTRS "/nr_regions/min", "%zu", watched.nr);
}

/* A scheme for all regions, accessed or not. */
static void write_scheme(const char *action)
{
	write_file(CONTEXT "/schemes/nr_schemes", "1");
	write_file(SCHEME "/action", "%s", action);
	write_file(SCHEME "/access_pattern/sz/max", "%lu", ULONG_MAX);
	write_file(SCHEME "/access_pattern/nr_accesses/max", "%u", UINT_MAX);
	write_file(SCHEME "/access_pattern/age/max", "%u", UINT_MAX);
}

static void start(const char *operations, unsigned int sample_ms,
		  unsigned int window_ms)
{
	write_file(KDAMONDS "/nr_kdamonds", "1");
	write_file(KDAMOND "/contexts/nr_contexts", "1");
	write_file(CONTEXT "/operations", "%s", operations);
	write_file(CONTEXT "/targets/nr_targets", "1");
	write_attrs(sample_ms, window_ms);
	write_regions();
}

void damon_start(const char *at, size_t nr, size_t len, unsigned int sample_ms,
		 unsigned int window_ms)
{
	find_blocks(at, nr, len);
	start("paddr", sample_ms, window_ms);
	/* It only says which regions there are. */
	write_scheme("stat");
	write_file(KDAMOND "/state", "on");
}

static void forget(void)
{
	write_file(KDAMONDS "/nr_kdamonds", "0");
	free(watched.blocks);
	watched.blocks = NULL;
}

/* The kernel has both since the same series of patches (6.17). */
bool damon_can_move(void)
{
	bool can;

	if (!damon_available())
		return false;
	write_file(KDAMONDS "/nr_kdamonds", "1");
	write_file(KDAMOND "/contexts/nr_contexts", "1");
	write_file(CONTEXT "/schemes/nr_schemes", "1");
	can = !access(SCHEME "/dests", F_OK);
	forget();
	return can;
}

static void start_process(pid_t pid, unsigned int sample_ms,
			  unsigned int window_ms)
{
	start("vaddr", sample_ms, window_ms);
	write_file(CONTEXT "/targets/0/pid_target", "%d", pid);
}

/* Blocks of virtual addresses. */
static void start_virtual(pid_t pid, const char *at, size_t nr, size_t len,
			  unsigned int sample_ms, unsigned int window_ms)
{
	size_t n;

	new_blocks(nr, len);
	for (n = 0; n < nr; n++)
		watched.blocks[n] = (struct block){
			.start = (uintptr_t)at + n * len, .number = n
		};
	start_process(pid, sample_ms, window_ms);
}

void damon_start_process(pid_t pid, const char *at, size_t nr, size_t len,
			 unsigned int sample_ms, unsigned int window_ms)
{
	start_virtual(pid, at, nr, len, sample_ms, window_ms);
	write_scheme("stat");
	write_file(KDAMOND "/state", "on");
}

void damon_start_places(pid_t pid, char *const *at, size_t nr, size_t len,
			unsigned int sample_ms, unsigned int window_ms)
{
	size_t n;

	new_blocks(nr, len);
	for (n = 0; n < nr; n++)
		watched.blocks[n] = (struct block){
			.start = (uintptr_t)at[n], .number = n
		};
	start_process(pid, sample_ms, window_ms);
	write_file(KDAMOND "/state", "on");
}

void damon_start_moving(const char *at, size_t nr, size_t len, int node,
			unsigned int window_ms)
{
	start_virtual(getpid(), at, nr, len, window_ms, window_ms);
	write_scheme("migrate_cold");
	write_file(SCHEME "/target_nid", "%d", node);
	write_file(KDAMOND "/state", "on");
}

void damon_start_counting(const char *at, size_t nr, size_t len,
			  unsigned int window_ms)
{
	start_virtual(getpid(), at, nr, len, window_ms, window_ms);
	write_scheme("stat");
	write_file(FILTERS "/nr_filters", "1");
	write_file(FILTERS "/0/type", "anon");
	write_file(FILTERS "/0/matching", "Y");
	write_file(FILTERS "/0/allow", "Y");
	write_file(KDAMOND "/state", "on");
}

void damon_counted(unsigned long *all, unsigned long *counted)
{
	write_file(KDAMOND "/state", "update_schemes_stats");
	*all = read_number(STATS "/sz_tried");
	*counted = read_number(STATS "/sz_ops_filter_passed");
}

static const struct block *block_at(uint64_t start)
{
	struct block key = { .start = start };

	return bsearch(&key, watched.blocks, watched.nr, sizeof(key), by_start);
}

static unsigned long tried(size_t n, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), TRIED "/%zu/%s", n, file);
	return read_number(path);
}

/* The files of tried regions are numbered as the kernel met them. */
void damon_accesses(unsigned int *out)
{
	size_t n;

	write_file(KDAMOND "/state", "update_schemes_tried_regions");
	for (n = 0; n < watched.nr; n++) {
		uint64_t start = tried(n, "start");
		const struct block *block = block_at(start);

		if (!block || tried(n, "end") != start + watched.len)
			die("region %zu of DAMON begins at %#llx, not with a block",
			    n, (unsigned long long)start);
		out[block->number] = tried(n, "nr_accesses");
	}
}

void damon_stop(void)
{
	write_file(KDAMOND "/state", "off");
	forget();
}
