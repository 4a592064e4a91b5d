// SPDX-License-Identifier: GPL-2.0
/*
 * fork() of a process with a written range, and the first writes after it.
 *
 * fork: the region contains the call, the child, which exits at once, and the
 * wait for it. With one CPU, the child's exit is part of the count.
 *
 * cow-after-fork: the child has ended before the region, and the parent writes
 * one word of each page. The entries are still read-only, although each page
 * has only one user again: each first write faults, and the kernel copies the
 * page or takes it over. by=pte: folios of 2 MiB are mapped by PTEs.
 *
 * cow-sparse: as cow-after-fork, but of `part` pages only one is written to, drawn
 * at random, as by a server with keys in no order. Folios of 2 MiB are mapped by
 * PTEs. Most of what a fault does for the pages around is never used. entries=loose:
 * on arm64, no block of entries is contiguous.
 *
 * cow-mixed: the child has ended, and the parent has written to every second page
 * of each folio, so that every second entry is writable and every second page is
 * exclusive. Then the region writes to all pages, or changes their protection:
 * to read-only, or from that back to writable. by=pte: as for cow-after-fork.
 *
 * cow-child-alive: as cow-after-fork while the child waits, and still maps all
 * pages. Each first write copies the page.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/pagemap.h"
#include "process/child.h"
#include "process/peer.h"
#include "report/die.h"
#include "run/bench.h"

#define DATA_SEED	0xf04cu
#define MARK	0x6d61726b6d61726bull	/* no page's word */

static char *area;
static size_t area_len;

static void write_area(unsigned long kib)
{
	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write_words(area, area_len, DATA_SEED);
}

static void setup(void)
{
	unsigned long kib = bench_number("size");

	write_area(kib);
	bench_check_layout(area, area_len, kib);
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void fork_once(void)
{
	pid_t pid = fork_child();

	if (!pid)
		_exit(STATUS_OK);
	wait_child(pid, "the child that only exits");
}

/*
 * fork() allocates page tables and much else. If a free list is empty just then,
 * the page allocator takes a whole block from other lists, which may cost more
 * than the fork(). So fork() once before, with as many tables.
 */
static void fill_free_lists(void)
{
	size_t off, len = 2 * bench_number("mib") * MIB;
	char *tables = folio_map(NULL, len, PAGE_KIB);

	for (off = 0; off < len; off += PMD_SIZE)
		tables[off] = 1;
	fork_once();
	if (munmap(tables, len))
		die_errno("munmap");
}

static void setup_fork(void)
{
	fill_free_lists();
	setup();
}

static void split_pmds(void)
{
	if (bench_number("size") * KIB >= PMD_SIZE)
		range_split_pmds(area, area_len / PAGE_SIZE);
}

static volatile uint64_t *word_of(size_t page)
{
	return (volatile uint64_t *)(area + page * PAGE_SIZE);
}

static void setup_forked(void)
{
	setup();
	if (!strcmp(bench_word("by"), "pte"))
		split_pmds();
	fork_once();
}

static size_t *drawn, nr_drawn;

/* The pages that are written to, each once, in the order in which they are drawn. */
static void draw_pages(size_t pages)
{
	bool *taken = calloc(pages, sizeof(*taken));
	uint32_t random = DATA_SEED;

	drawn = calloc(pages, sizeof(*drawn));
	if (!taken || !drawn)
		die("no memory for a list of %zu pages", pages);
	while (nr_drawn < pages / bench_number("part")) {
		size_t page = random_below(&random, pages);

		if (!taken[page])
			drawn[nr_drawn++] = page;
		taken[page] = true;
	}
	free(taken);
}

/* The first page of each block has other rights for a while. */
static void unfold_blocks(void)
{
	size_t off;

	for (off = 0; off < area_len; off += 64 * KIB) {
		if (mprotect(area + off, PAGE_SIZE, PROT_READ) ||
		    mprotect(area + off, PAGE_SIZE, PROT_READ | PROT_WRITE))
			die_errno("mprotect");
	}
}

static void setup_sparse(void)
{
	unsigned long kib = bench_number("size");
	size_t pages;

	write_area(kib);
	pages = area_len / PAGE_SIZE;
	split_pmds();
	if (!strcmp(bench_word("entries"), "loose"))
		unfold_blocks();
	bench_check_folios(area, area_len, kib);
	env_drain_lru();
	draw_pages(pages);
	bench_work(nr_drawn, 1);
	fork_once();
}

static void protect_area(int prot)
{
	if (mprotect(area, area_len, prot))
		die_errno("mprotect of %zu bytes", area_len);
}

static bool then_is(const char *what)
{
	return !strcmp(bench_word("then"), what);
}

static void setup_mixed(void)
{
	size_t n;

	setup_forked();
	for (n = 0; n < area_len / PAGE_SIZE; n += 2)
		*word_of(n) = MARK;
	if (then_is("writable"))
		protect_area(PROT_READ);
}

static struct peer peer;

static void setup_child_waits(void)
{
	setup();
	if (!peer_fork(&peer)) {
		peer_go(&peer);
		peer_wait(&peer);
		peer_end(&peer);
	}
	peer_wait(&peer);
}

static void run(void)
{
	pid_t pid, ended;
	int status;

	env_after_tick();
	quire_start();
	pid = fork();
	if (!pid)
		_exit(STATUS_OK);
	ended = waitpid(pid, &status, 0);
	quire_stop();
	if (pid < 0)
		die_errno("fork");
	if (ended != pid || status)
		bench_fail("the child ended with status %#x", status);
}

static void run_writes(void)
{
	size_t n, pages = area_len / PAGE_SIZE;

	env_after_tick();
	quire_start();
	for (n = 0; n < pages; n++)
		*word_of(n) = MARK;
	quire_stop();
}

static void run_mixed(void)
{
	int err;

	if (then_is("write"))
		return run_writes();
	env_after_tick();
	quire_start();
	err = mprotect(area, area_len, then_is("writable") ?
		       PROT_READ | PROT_WRITE : PROT_READ);
	quire_stop();
	if (err)
		die_errno("mprotect of %zu bytes", area_len);
}

static void run_sparse(void)
{
	size_t n;

	env_after_tick();
	quire_start();
	for (n = 0; n < nr_drawn; n++)
		*word_of(drawn[n]) = MARK;
	quire_stop();
}

static void verify(void)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t present = pagemap_present(area, pages);
	long bad = pattern_verify_words(area, area_len, DATA_SEED);

	if (present != pages)
		bench_fail("only %zu of %zu pages are mapped", present, pages);
	if (bad >= 0)
		bench_fail("page %ld has wrong data", bad);
}

/* The page holds the mark, and is the same again without it. */
static void verify_write(size_t page)
{
	if (*word_of(page) != MARK)
		bench_fail("page %zu lost what was written", page);
	*word_of(page) = word_of(page)[1];
}

static void verify_writes(void)
{
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++)
		verify_write(n);
	verify();
}

static void verify_mixed(void)
{
	size_t n;

	protect_area(PROT_READ | PROT_WRITE);
	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (n % 2 == 0 || then_is("write"))
			verify_write(n);
	}
	verify();
}

static void verify_sparse(void)
{
	size_t n;

	for (n = 0; n < nr_drawn; n++)
		verify_write(drawn[n]);
	verify();
}

static void verify_with_child(void)
{
	peer_turn(&peer);
	peer_join(&peer, "the child that only waits");
	verify_writes();
}

static const struct workload fork_workload = {
	.name = "fork",
	.summary = "fork of a written range, and the child's exit",
	.params = { PARAM_SIZE, { "mib", "32", NULL } },
	.vmstat = { "pgfault", "thp_split_page", "thp_split_pmd" },
	.setup = setup_fork,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(fork_workload);

static const struct workload cow_after_fork = {
	.name = "cow-after-fork",
	.summary = "the first write to each page after a fork",
	.params = { PARAM_SIZE, { "mib", "32", NULL },
		    { "by", "pmd", "pmd|pte" } },
	.vmstat = { "pgfault", "pgreuse", "thp_split_page", "thp_split_pmd" },
	.setup = setup_forked,
	.run = run_writes,
	.verify = verify_writes,
};
QUIRE_WORKLOAD(cow_after_fork);

static const struct workload cow_sparse = {
	.name = "cow-sparse",
	.summary = "the first write to a few random pages after a fork",
	.params = { PARAM_SIZE, { "mib", "32", NULL }, { "part", "16", NULL },
		    { "entries", "blocks", "blocks|loose" } },
	.vmstat = { "pgfault", "pgreuse", "thp_split_page", "thp_split_pmd" },
	.setup = setup_sparse,
	.run = run_sparse,
	.verify = verify_sparse,
};
QUIRE_WORKLOAD(cow_sparse);

static const struct workload cow_mixed = {
	.name = "cow-mixed",
	.summary = "writes or mprotect where every second page is writable",
	.params = { PARAM_SIZE, { "mib", "32", NULL },
		    { "then", "write", "write|read-only|writable" },
		    { "by", "pte", "pmd|pte" } },
	.vmstat = { "pgfault", "pgreuse", "thp_split_page", "thp_split_pmd" },
	.setup = setup_mixed,
	.run = run_mixed,
	.verify = verify_mixed,
};
QUIRE_WORKLOAD(cow_mixed);

static const struct workload cow_child_alive = {
	.name = "cow-child-alive",
	.summary = "the first write to each page after a fork, while the child maps the pages",
	.params = { PARAM_SIZE, { "mib", "32", NULL } },
	.vmstat = { "pgfault", "pgreuse", "thp_split_page", "thp_split_pmd" },
	.setup = setup_child_waits,
	.run = run_writes,
	.verify = verify_with_child,
};
QUIRE_WORKLOAD(cow_child_alive);
