// SPDX-License-Identifier: GPL-2.0
/*
 * fork() of a process with a range that is entirely in swap. The region
 * contains the call and the child, which exits at once.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "report/die.h"
#include "run/bench.h"

#define SEED 0xf5u

static char *area;
static size_t area_len;

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	swap_on(2 * area_len / MIB);
	area = folio_map(NULL, area_len, kib);
	pattern_write_words(area, area_len, SEED);
	bench_check_layout(area, area_len, kib);
	page_out(area, area_len);
	bench_work(area_len / PAGE_SIZE, 1);
}

static void require_swapped(const char *when)
{
	size_t pages = area_len / PAGE_SIZE;
	size_t out = pagemap_swapped(area, pages);

	if (out != pages)
		bench_fail("%s only %zu of %zu pages are in swap", when, out,
			   pages);
}

static void run(void)
{
	pid_t pid, ended;
	int status;

	require_swapped("before fork()");
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

static void verify(void)
{
	long bad;

	require_swapped("after fork()");
	bad = pattern_verify_words(area, area_len, SEED);
	if (bad >= 0)
		bench_fail("page %ld came back with wrong data", bad);
}

static const struct workload fork_swapped = {
	.name = "fork-swapped",
	.summary = "fork of a range in swap, and the child's exit",
	.params = { PARAM_SIZE, { "mib", "32", NULL } },
	.vmstat = { "pswpin", "thp_split_page" },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(fork_swapped);
