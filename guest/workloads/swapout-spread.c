// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of folios that many processes map, each of them a few pages: a server
 * that has forked workers, each of which has freed most of its copies. The parent
 * maps all pages and each child as many as `keep` says, in each folio; the
 * children drop the others by MADV_DONTNEED, so that the VMA stays whole. No page
 * is exclusive.
 *
 * MADV_PAGEOUT leaves shared folios alone. So the write to memory.reclaim is
 * counted, per page of the parent. No page was accessed since its accessed bit
 * was cleared.
 */
#include <stdio.h>
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
#include "process/peer.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED		0x59eadu
#define MAX_CHILDREN	256

static char *area;
static size_t area_len;
static struct peer child[MAX_CHILDREN];

static void drop(char *at, size_t len)
{
	if (len && madvise(at, len, MADV_DONTNEED))
		die_errno("MADV_DONTNEED of %zu KiB", len / KIB);
}

/* Child n keeps the same few pages of each folio, and no other child does. */
static void drop_most(unsigned long n)
{
	size_t folio = bench_number("size") * KIB, first, end, off;

	first = n * bench_number("keep") * PAGE_SIZE;
	end = first + bench_number("keep") * PAGE_SIZE;
	for (off = 0; off < area_len; off += folio) {
		drop(area + off, first);
		drop(area + off + end, folio - end);
	}
}

static void fork_children(void)
{
	unsigned long n, nr = bench_number("children");

	if (nr > MAX_CHILDREN || nr * bench_number("keep") * PAGE_SIZE >
					 bench_number("size") * KIB)
		die("%lu children are too many", nr);
	for (n = 0; n < nr; n++) {
		if (peer_fork(&child[n]))
			peer_wait(&child[n]);
		else {
			drop_most(n);
			peer_go(&child[n]);
			peer_wait(&child[n]);
			peer_end(&child[n]);
		}
	}
}

static void setup(void)
{
	unsigned long kib = bench_number("size");

	lru_gen_enable(false);
	area_len = bench_number("mib") * MIB;
	swap_on(2 * area_len / MIB);
	memcg_enter();
	area = folio_map(NULL, area_len, kib);
	pattern_write_words(area, area_len, SEED);
	bench_check_folios(area, area_len, kib);
	fork_children();
	env_drain_lru();
	/* Clearing the accessed bits flushes no TLB, and mprotect() does. */
	write_file("/proc/self/clear_refs", "1");
	if (mprotect(area, area_len, PROT_READ))
		die_errno("mprotect");
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	bench_reclaim(area_len);
}

static void verify(void)
{
	size_t out = pagemap_swapped(area, area_len / PAGE_SIZE);
	unsigned long n, nr = bench_number("children");
	long bad;

	if (out != area_len / PAGE_SIZE)
		bench_fail("only %zu of %zu pages were swapped out", out,
			   area_len / PAGE_SIZE);
	bad = pattern_verify_words(area, area_len, SEED);
	if (bad >= 0)
		bench_fail("page %ld came back with wrong data", bad);
	for (n = 0; n < nr; n++) {
		peer_turn(&child[n]);
		peer_join(&child[n], "a child that maps a part of each folio");
	}
}

static const struct workload swapout_spread = {
	.name = "swapout-spread",
	.summary = "reclaim of folios of which many children map a few pages each",
	.params = { PARAM_SIZE, { "children", "64", NULL }, { "keep", "4", NULL },
		    { "mib", "8", NULL } },
	.vmstat = { "pswpout", "thp_split_page", "thp_split_pmd" },
	.mthp = { "swpout", "swpout_fallback", "split", "split_deferred" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(swapout_spread);
