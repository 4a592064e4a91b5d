// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of lazily freed folios that were written to again in part: 16 MiB are
 * written, freed by MADV_FREE, some pages of each folio are written again, and
 * reclaim is asked to swap out all of it, to zram.
 *
 * rewritten: how many pages of each folio (all, if it has fewer). at: the first
 * ones, the last ones, or one after the other from a page on that differs from
 * folio to folio. data: as swapout has it; words: each page repeats a word of its
 * own, which zram stores without compressing it. by: MADV_PAGEOUT, twice, since
 * the first call makes what was rewritten swap-backed and keeps it; or one write
 * to memory.reclaim of a cgroup, with the classic or the multi-gen LRU. swap:
 * zram, or a plain block device (kernel/nullb.h). Folios of 2 MiB are mapped by
 * PTEs.
 *
 * swapped_kib counts what went to swap, zeroes, too; stored_kib what zram keeps of
 * it, compressed; refaults the pages that reads of the whole range swap in.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/lru_gen.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED_FREED	0x1afu
#define SEED_KEPT	0x2bfu

static char *area;
static size_t area_len, folio_nr, rewritten;

static bool by_pageout(void)
{
	return !strcmp(bench_word("by"), "pageout");
}

static bool on_block(void)
{
	return !strcmp(bench_word("swap"), "block");
}

static bool is_rewritten(size_t page)
{
	size_t folio = page / folio_nr, at = page % folio_nr;

	if (!strcmp(bench_word("at"), "last"))
		return at >= folio_nr - rewritten;
	if (!strcmp(bench_word("at"), "any"))
		at = (at + folio * 7) % folio_nr;
	return at < rewritten;
}

static void write_page(size_t page, uint64_t seed)
{
	char *to = page_at(area, page);

	if (!strcmp(bench_word("data"), "distinct"))
		pattern_write_page(to, seed, page);
	else if (!strcmp(bench_word("data"), "words"))
		pattern_write_words(to, PAGE_SIZE, seed + page);
	else
		memset(to, 0, PAGE_SIZE);
}

static bool page_has(size_t page, uint64_t seed)
{
	char *at = page_at(area, page);

	if (!strcmp(bench_word("data"), "distinct"))
		return pattern_verify_page(at, seed, page) < 0;
	if (!strcmp(bench_word("data"), "words"))
		return pattern_verify_words(at, PAGE_SIZE, seed + page) < 0;
	return pattern_verify_zero(at, PAGE_SIZE) < 0;
}

static void setup(void)
{
	unsigned long kib = bench_number("size"), mib = bench_number("mib");
	size_t n;

	area_len = mib * MIB;
	folio_nr = kib * KIB / PAGE_SIZE;
	rewritten = bench_number("rewritten");
	if (rewritten > folio_nr)
		rewritten = folio_nr;
	if (on_block())
		swap_on_block(2 * mib);
	else
		swap_on(2 * mib);
	if (!by_pageout()) {
		lru_gen_enable(!strcmp(bench_word("by"), "mglru"));
		memcg_enter();
	}
	area = folio_map(NULL, area_len, kib);
	for (n = 0; n < area_len / PAGE_SIZE; n++)
		write_page(n, SEED_FREED);
	bench_check_layout(area, area_len, kib);
	if (kib * KIB == PMD_SIZE)
		range_split_pmds(area, area_len / PAGE_SIZE);
	env_drain_lru();
	if (madvise(area, area_len, MADV_FREE))
		die_errno("MADV_FREE");
	env_drain_lru();
	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (is_rewritten(n))
			write_page(n, SEED_KEPT);
	}
	bench_work(area_len / PAGE_SIZE, 1);
}

static void page_out_twice(void)
{
	int err = 0;

	env_after_tick();
	quire_start();
	for (int call = 0; call < 2 && !err; call++)
		err = madvise(area, area_len, MADV_PAGEOUT);
	quire_stop();
	if (err)
		die_errno("MADV_PAGEOUT");
}

/* KiB of compressed data in zram. */
static unsigned long stored_kib(void)
{
	unsigned long stored;
	char text[256];

	if (read_file("/sys/block/zram0/mm_stat", text, sizeof(text)) < 0 ||
	    sscanf(text, "%*u %lu", &stored) != 1)
		die("cannot read mm_stat of zram0");
	return stored / KIB;
}

static unsigned long refaults(void)
{
	unsigned long before = vmstat("pswpin");
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++)
		(void)*(volatile char *)page_at(area, n);
	return vmstat("pswpin") - before;
}

static void run(void)
{
	size_t pages = area_len / PAGE_SIZE;

	if (by_pageout())
		page_out_twice();
	else
		bench_reclaim(area_len);
	bench_counter("swapped_kib", 0,
		      pagemap_swapped(area, pages) * PAGE_SIZE / KIB);
	bench_counter("present_kib", 0,
		      pagemap_present(area, pages) * PAGE_SIZE / KIB);
	if (!on_block())
		bench_counter("stored_kib", 0, stored_kib());
	bench_counter("refaults", 0, refaults());
}

static void verify(void)
{
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (is_rewritten(n) ? !page_has(n, SEED_KEPT) :
		    !page_has(n, SEED_FREED) &&
		    pattern_verify_zero(page_at(area, n), PAGE_SIZE) >= 0)
			bench_fail("page %zu has wrong data", n);
	}
}

static const struct workload lazyfree_rewritten = {
	.name = "lazyfree-rewritten",
	.summary = "reclaim of lazily freed folios written again in part",
	.params = { PARAM_SIZE, { "rewritten", "1", NULL },
		    { "at", "first", "first|last|any" },
		    { "data", "distinct", "distinct|words|zero" },
		    { "by", "pageout", "pageout|classic|mglru" },
		    { "swap", "zram", "zram|block" }, { "mib", "16", NULL } },
	.vmstat = { "pswpout", "pglazyfreed", "thp_split_page", "thp_split_pmd" },
	.mthp = { "swpout", "split_deferred", "split", "split_failed" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(lazyfree_rewritten);
