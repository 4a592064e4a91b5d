// SPDX-License-Identifier: GPL-2.0
/*
 * Reading smaps_rollup of a process with 16 MiB of written folios: the kernel
 * looks at each page. What it costs for the program itself, some hundred pages,
 * is a constant part.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
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

static void verify(void)
{
	const char *line = strstr(text, "Anonymous:");
	unsigned long kib = 0;

	if (line)
		kib = strtoul(line + strlen("Anonymous:"), NULL, 10);
	if (kib < area_len / KIB)
		bench_fail("%lu KiB are anonymous, of %zu", kib, area_len / KIB);
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
