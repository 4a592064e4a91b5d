// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of anonymous zeroes from the LRU lists of a memory cgroup, by a write
 * to its memory.reclaim. The write is counted, per page that it reclaimed.
 * Unlike MADV_PAGEOUT, it looks for referenced folios, ages the lists and
 * decides what to take. The zero map of swap records the pages: nothing is
 * written.
 *
 * lru=classic: active and inactive lists; mglru: generations, with page-table
 * walks. The kernel ages in the same call. For idle and mixed pages, the setup
 * starts a generation too, because in the first one all pages are equally
 * young, whatever was accessed.
 *
 * pages=idle: no page was accessed since its accessed bit was cleared. All of
 * it is asked for. pages=mixed: every second folio was accessed, and half the
 * memory is asked for: reclaim meets the accessed folios and gives them a
 * second chance. pages=active: the same, but these folios are on the active
 * list. To get there, they are of one of the two youngest generations when the
 * setup turns generations off. pages=accessed: all pages were accessed, as
 * after their first write, and all of it is asked for: each folio is met twice.
 * pages=one (lru=classic): the same with one accessed page in each folio; folios
 * of 2 MiB are mapped by PTEs.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/lru_gen.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/bench.h"

static const char *const events[] = { "pgscan", "pgsteal", "pgactivate",
				      "pgdeactivate" };

static char *area;
static size_t area_len;
static size_t wanted;	/* pages */
static size_t reclaimed;

static bool pages_are(const char *what)
{
	return !strcmp(bench_word("pages"), what);
}

static bool half_is_accessed(void)
{
	return pages_are("mixed") || pages_are("active");
}

/* Clearing the accessed bits flushes no TLB, and a protection change does. */
static void clear_accessed(void)
{
	write_file("/proc/self/clear_refs", "1");
	if (mprotect(area, area_len, PROT_READ) ||
	    mprotect(area, area_len, PROT_READ | PROT_WRITE))
		die_errno("mprotect");
}

static void read_every_second(size_t folio)
{
	const volatile char *at;
	size_t first, off;

	for (first = 0; first < area_len; first += 2 * folio) {
		at = area + first;
		for (off = 0; off < folio; off += PAGE_SIZE)
			at[off];
	}
}

/* A page of its own protection has an entry of its own. */
static void split_pmds(void)
{
	size_t at;

	for (at = 0; at < area_len; at += PMD_SIZE) {
		if (mprotect(area + at, PAGE_SIZE, PROT_READ) ||
		    mprotect(area + at, PAGE_SIZE, PROT_READ | PROT_WRITE))
			die_errno("mprotect");
	}
}

static void read_one(size_t folio)
{
	const volatile char *at = area + folio / PAGE_SIZE / 2 * PAGE_SIZE;
	size_t first;

	for (first = 0; first < area_len; first += folio)
		at[first];
}

static void prepare_pages(size_t folio, bool generations)
{
	if (pages_are("accessed"))
		return;
	if (pages_are("one") && folio == PMD_SIZE)
		split_pmds();
	if (generations)
		lru_gen_age();
	clear_accessed();
	if (pages_are("idle"))
		return;
	if (pages_are("one")) {
		read_one(folio);
		return;
	}
	read_every_second(folio);
	if (pages_are("mixed"))
		return;
	lru_gen_age();
	clear_accessed();
	read_every_second(folio);
}

static void setup(void)
{
	unsigned long mib = bench_number("mib"), kib = bench_number("size");

	bool mglru = !strcmp(bench_word("lru"), "mglru");
	bool generations = mglru || pages_are("active");

	lru_gen_enable(generations);
	area_len = mib * MIB;
	swap_on(2 * mib);
	memcg_enter();
	area = folio_map(NULL, area_len, kib);
	memset(area, 0, area_len);
	bench_check_layout(area, area_len, kib);
	env_drain_lru();
	prepare_pages(kib * KIB, generations);
	lru_gen_enable(mglru);
	wanted = area_len / PAGE_SIZE / (half_is_accessed() ? 2 : 1);
}

static void read_events(unsigned long *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		value[i] = memcg_stat(events[i]);
}

/*
 * A number that tells which pages were reclaimed, and in which order: that is
 * the order of their swap slots. (The 32-bit FNV-1a hash of the slots.)
 */
static unsigned long order_of_reclaim(void)
{
	size_t n, nr = area_len / PAGE_SIZE;
	struct page_state *page = calloc(nr, sizeof(*page));
	uint32_t hash = 2166136261u;

	if (!page)
		die("no memory for the state of %zu pages", nr);
	pagemap_read(area, nr, page);
	for (n = 0; n < nr; n++)
		hash = (hash ^ (page[n].swapped ?
				(uint32_t)page[n].swap_offset : ~0u)) *
		       16777619u;
	free(page);
	return hash;
}

static void report(const unsigned long *before)
{
	unsigned long after[ARRAY_SIZE(events)];
	size_t i;

	read_events(after);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		bench_counter(events[i], before[i], after[i]);
	bench_counter("order", 0, order_of_reclaim());
	reclaimed = pagemap_swapped(area, area_len / PAGE_SIZE);
	bench_work(reclaimed, 1);
}

static void run(void)
{
	unsigned long before[ARRAY_SIZE(events)];

	read_events(before);
	bench_reclaim(wanted * PAGE_SIZE);
	report(before);
}

/* How many of the pages that read_every_second() read were reclaimed. */
static size_t accessed_reclaimed(size_t folio)
{
	size_t first, found = 0;

	for (first = 0; first < area_len; first += 2 * folio)
		found += pagemap_swapped(area + first, folio / PAGE_SIZE);
	return found;
}

static void verify(void)
{
	size_t folio = bench_number("size") * KIB, taken;
	long bad;

	taken = half_is_accessed() ? accessed_reclaimed(folio) : 0;
	if (taken > wanted / 8)
		bench_fail("reclaim took %zu of %zu accessed pages", taken,
			   area_len / PAGE_SIZE / 2);
	if (reclaimed < wanted - wanted / 16)
		bench_fail("only %zu of %zu pages were reclaimed", reclaimed,
			   wanted);
	bad = pattern_verify_zero(area, area_len);
	if (bad >= 0)
		bench_fail("page %ld came back with wrong data", bad);
}

static const struct workload reclaim_workload = {
	.name = "reclaim",
	.summary = "reclaim of anonymous zeroes by memory.reclaim",
	.params = { PARAM_SIZE, { "lru", "classic", "classic|mglru" },
		    { "pages", "idle", "idle|mixed|active|accessed|one" },
		    { "mib", "24", NULL } },
	.vmstat = { "pswpout", "thp_split_page", "thp_split_pmd" },
	.mthp = { "swpout", "swpout_fallback", "split", "split_deferred" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(reclaim_workload);
