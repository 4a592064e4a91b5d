// SPDX-License-Identifier: GPL-2.0
/*
 * Swap-out of large folios with alternating exclusive pages: PageAnonExclusive
 * is set for every second page, or the pages of some blocks differ, and all else
 * is equal.
 *
 * fork() clears the flag of every page that it shares, and the exit of the
 * child does not set it again. MADV_DONTFORK keeps the others out of the child;
 * then all pages are one VMA again. fork() made only the shared pages
 * read-only; mprotect() makes all of them read-only.
 *
 * arm64 checks whether it can fold 16 PTEs into a contpte block when the last
 * of them is set. blocks=folded: the mprotect() folds all of them again.
 * blocks=loose: the last PTEs were set before the others, and a scan has to
 * read each PTE. On other architectures the two are the same.
 *
 * blocks=straddled: of every 32 pages the first 8 are exclusive, and all PTEs
 * are folded. The run of the other 24 begins in a block that unmapping the run
 * before has unfolded, and covers the next block whole.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/peer.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED	0xa17u
#define BLOCK	(units.block / PAGE_SIZE)

static char *area;
static size_t area_pages;

static bool straddled(void)
{
	return !strcmp(bench_word("blocks"), "straddled");
}

/* Is this page kept out of the child? */
static bool page_kept(size_t page)
{
	return straddled() ? page % (2 * BLOCK) < BLOCK / 2 : page % 2;
}

static void keep_pages(void)
{
	size_t n;

	for (n = 0; n < area_pages; n++) {
		if (page_kept(n) &&
		    madvise(area + n * PAGE_SIZE, PAGE_SIZE, MADV_DONTFORK))
			die_errno("MADV_DONTFORK of page %zu", n);
	}
}

/* While the child lives, shared pages are mapped twice. */
static void check_shared(void)
{
	struct page_state *state = calloc(area_pages, sizeof(*state));
	size_t n;

	if (!state)
		die("no memory for the states of %zu pages", area_pages);
	pagemap_read(area, area_pages, state);
	for (n = 0; n < area_pages; n++) {
		if (!state[n].present || state[n].exclusive != page_kept(n))
			bench_fail("page %zu is %sshared with the child", n,
				   page_kept(n) ? "" : "not ");
	}
	free(state);
}

static void protect_as(size_t first, size_t pages, int prot)
{
	if (mprotect(area + first * PAGE_SIZE, pages * PAGE_SIZE, prot))
		die_errno("mprotect of %zu pages from page %zu on", pages,
			  first);
}

static void protect(size_t first, size_t pages)
{
	protect_as(first, pages, PROT_READ);
}

/* Linux 7.3 sets a whole range at once, and folds only at a last PTE. */
static void set_last_pages(void)
{
	size_t n;

	for (n = BLOCK - 1; n < area_pages; n += BLOCK) {
		protect_as(n, 1, PROT_READ | PROT_WRITE);
		protect(n, 1);
	}
}

static void protect_all(void)
{
	size_t n;

	if (!strcmp(bench_word("blocks"), "folded")) {
		protect(0, area_pages);
		return;
	}
	if (straddled()) {
		protect(0, area_pages);
		set_last_pages();
		return;
	}
	for (n = 0; n < area_pages; n += BLOCK)
		protect(n + BLOCK - 1, 1);
	for (n = 0; n < area_pages; n += BLOCK)
		protect(n, BLOCK - 1);
}

static void alternate(void)
{
	unsigned long vmas = vma_count();
	struct peer child;

	keep_pages();
	if (!peer_fork(&child)) {
		peer_wait(&child);
		peer_end(&child);
	}
	check_shared();
	peer_turn(&child);
	peer_join(&child, "the child that shares some pages");
	if (madvise(area, area_pages * PAGE_SIZE, MADV_DOFORK))
		die_errno("MADV_DOFORK");
	protect_all();
	if (vma_count() != vmas)
		bench_fail("the area is %lu VMAs, not one",
			   vma_count() - vmas + 1);
}

static void setup(void)
{
	unsigned long kib = bench_number("size");
	size_t len = bench_number("mib") * MIB;

	area_pages = len / PAGE_SIZE;
	/* Twice as much, so that 2 MiB folios find whole free clusters. */
	swap_on(2 * len / MIB);
	area = folio_map(NULL, len, kib);
	pattern_write_words(area, len, SEED);
	alternate();
	bench_check_folios(area, len, kib);
	bench_work(area_pages, 1);
}

static void run(void)
{
	int err;

	env_after_tick();
	quire_start();
	err = madvise(area, area_pages * PAGE_SIZE, MADV_PAGEOUT);
	quire_stop();
	if (err)
		die_errno("MADV_PAGEOUT");
}

static void verify(void)
{
	size_t out = pagemap_swapped(area, area_pages);
	long bad;

	if (out != area_pages)
		bench_fail("only %zu of %zu pages were swapped out", out,
			   area_pages);
	bad = pattern_verify_words(area, area_pages * PAGE_SIZE, SEED);
	if (bad >= 0)
		bench_fail("page %ld came back with wrong data", bad);
}

static const struct workload swapout_alternating = {
	.name = "swapout-alternating",
	.summary = "MADV_PAGEOUT of folios of which every second page is exclusive",
	.params = { PARAM_SIZE, { "blocks", "folded", "folded|loose|straddled" },
		    { "mib", "16", NULL } },
	.vmstat = { "pswpout", "thp_split_page", "thp_split_pmd" },
	.mthp = { "swpout", "swpout_fallback", "split", "split_deferred" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(swapout_alternating);
