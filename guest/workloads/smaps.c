// SPDX-License-Identifier: GPL-2.0
/*
 * Reading smaps_rollup of a process with 16 MiB of written folios: the kernel
 * looks at each entry. They may be in swap, all or every second page (smaps-half).
 * What it costs for the program itself, some hundred pages, is a constant part.
 *
 * clear-refs: clearing the accessed bit of each page of such a process.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/proc.h"
#include "report/die.h"
#include "run/bench.h"

#define DATA_SEED	0x5a9u
#define TEXT_LEN	4096u

static char *area;
static size_t area_len;
static char text[TEXT_LEN];

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	pattern_write(area, area_len, DATA_SEED);
	bench_check_layout(area, area_len, kib);
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void setup_swapped(void)
{
	setup();
	swap_on(2 * area_len / MIB);
	page_out(area, area_len);
}

static void setup_half(void)
{
	size_t off;

	setup();
	swap_on(2 * area_len / MIB);
	for (off = 0; off < area_len; off += 2 * PAGE_SIZE)
		page_out(area + off, PAGE_SIZE);
}

static void run(void)
{
	int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (file < 0)
		die_errno("cannot open /proc/self/smaps_rollup");
	env_after_tick();
	quire_start();
	len = read(file, text, sizeof(text) - 1);
	quire_stop();
	if (len <= 0)
		die_errno("cannot read /proc/self/smaps_rollup");
	close(file);
}

static void verify_field(const char *name, size_t bytes)
{
	const char *line = strstr(text, name);
	unsigned long kib = 0;

	if (line)
		kib = strtoul(line + strlen(name), NULL, 10);
	if (kib < bytes / KIB)
		bench_fail("%s %lu KiB, of %zu", name, kib, bytes / KIB);
}

static void verify(void)
{
	verify_field("Anonymous:", area_len);
}

static void verify_swapped(void)
{
	verify_field("Swap:", area_len);
	verify_field("SwapPss:", area_len);
}

static void verify_half(void)
{
	verify_field("Swap:", area_len / 2);
	verify_field("Anonymous:", area_len / 2);
}

static const struct workload smaps = {
	.name = "smaps",
	.summary = "a read of smaps_rollup",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(smaps);

static const struct workload smaps_swapped = {
	.name = "smaps-swapped",
	.summary = "a read of smaps_rollup, all in swap",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.setup = setup_swapped,
	.run = run,
	.verify = verify_swapped,
};
QUIRE_WORKLOAD(smaps_swapped);

static const struct workload smaps_half = {
	.name = "smaps-half",
	.summary = "a read of smaps_rollup, every second page in swap",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.setup = setup_half,
	.run = run,
	.verify = verify_half,
};
QUIRE_WORKLOAD(smaps_half);

static void run_clear(void)
{
	int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	ssize_t len;

	if (file < 0)
		die_errno("cannot open /proc/self/clear_refs");
	env_after_tick();
	quire_start();
	len = write(file, "1", 1);
	quire_stop();
	if (len != 1)
		die_errno("cannot write to /proc/self/clear_refs");
	close(file);
}

static void verify_cleared(void)
{
	unsigned long kib = smaps_kib(area, "Referenced");

	if (kib)
		bench_fail("%lu KiB count as accessed", kib);
}

static const struct workload clear_refs = {
	.name = "clear-refs",
	.summary = "clearing the accessed bits of a process",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	.setup = setup,
	.run = run_clear,
	.verify = verify_cleared,
};
QUIRE_WORKLOAD(clear_refs);
