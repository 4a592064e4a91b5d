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
 * page or takes it over.
 *
 * cow-child-alive: the same while the child waits, and still maps all pages. Each
 * first write copies the page.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "process/child.h"
#include "process/peer.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED	0xf04cu
#define MARK	0x6d61726b6d61726bull	/* no page's word */

static char *area;
static size_t area_len;

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write_words(area, area_len, SEED);
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
	char *tables = folio_map(NULL, len, 4);

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

static void setup_forked(void)
{
	setup();
	fork_once();
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

static volatile uint64_t *word_of(size_t page)
{
	return (volatile uint64_t *)(area + page * PAGE_SIZE);
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

static void verify(void)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t present = pagemap_present(area, pages);
	long bad = pattern_verify_words(area, area_len, SEED);

	if (present != pages)
		bench_fail("only %zu of %zu pages are mapped", present, pages);
	if (bad >= 0)
		bench_fail("page %ld has wrong data", bad);
}

/* Each page holds the mark, and is the same again without it. */
static void verify_writes(void)
{
	size_t n;

	for (n = 0; n < area_len / PAGE_SIZE; n++) {
		if (*word_of(n) != MARK)
			bench_fail("page %zu lost what was written", n);
		*word_of(n) = word_of(n)[1];
	}
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
	.params = { PARAM_SIZE, { "mib", "32", NULL } },
	.vmstat = { "pgfault", "pgreuse", "thp_split_page", "thp_split_pmd" },
	.setup = setup_forked,
	.run = run_writes,
	.verify = verify_writes,
};
QUIRE_WORKLOAD(cow_after_fork);

static const struct workload cow_child_alive = {
	.name = "cow-child-alive",
	.summary = "the same, but the child still maps the pages",
	.params = { PARAM_SIZE, { "mib", "32", NULL } },
	.vmstat = { "pgfault", "pgreuse", "thp_split_page", "thp_split_pmd" },
	.setup = setup_child_waits,
	.run = run_writes,
	.verify = verify_with_child,
};
QUIRE_WORKLOAD(cow_child_alive);
