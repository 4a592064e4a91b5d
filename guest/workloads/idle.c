// SPDX-License-Identifier: GPL-2.0
/*
 * The idle-page bitmap: all pages of a mapping are marked idle, or looked at.
 * Either makes the kernel walk the mappings of their folios and clear accessed
 * bits. Only the bit of a folio's first page can be set.
 *
 * op=mark: every page was accessed before. op=look: every page was marked, and
 * none was accessed since.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "proc/idle_range.h"
#include "report/die.h"
#include "run/bench.h"

static char *area;
static size_t area_len;
static struct idle_range *bits;

/* The accessed bits are set again only if no old TLB entry is used. */
static void flush(void)
{
	if (mprotect(area, area_len, PROT_READ) ||
	    mprotect(area, area_len, PROT_READ | PROT_WRITE))
		die_errno("mprotect");
}

static bool marks(void)
{
	return !strcmp(bench_word("op"), "mark");
}

static void setup(void)
{
	unsigned long kib = bench_number("size");

	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	memset(area, 1, area_len);
	bench_check_layout(area, area_len, kib);
	/* A page in a batch of the LRU is on no list, and has no idle bit. */
	env_drain_lru();
	bits = idle_range_open(area, area_len / PAGE_SIZE);
	if (!marks()) {
		flush();
		idle_range_mark(bits);
	}
	bench_work(area_len / PAGE_SIZE, 1);
}

static void run(void)
{
	env_after_tick();
	quire_start();
	if (marks())
		idle_range_mark(bits);
	else
		idle_range_look(bits);
	quire_stop();
}

static void require_idle(const char *when, size_t want)
{
	size_t found = idle_range_count(bits);

	if (found != want)
		bench_fail("%s: %zu folios are idle, not %zu", when, found, want);
}

/* One access in every second folio. */
static void access_half(size_t folio)
{
	size_t off;

	for (off = 0; off < area_len; off += 2 * folio)
		*(volatile char *)(area + off + folio / PAGE_SIZE / 3 * PAGE_SIZE);
}

static void verify(void)
{
	size_t folios = area_len / KIB / bench_number("size");

	if (!marks())
		require_idle("looked at", folios);
	idle_range_mark(bits);
	flush();
	idle_range_look(bits);
	require_idle("marked", folios);
	access_half(bench_number("size") * KIB);
	idle_range_look(bits);
	require_idle("half of the folios accessed", folios / 2);
	idle_range_close(bits);
}

static const struct workload idle = {
	.name = "idle",
	.summary = "marking pages in the idle-page bitmap, and looking at them",
	.params = { PARAM_SIZE, { "op", "mark", "mark|look" },
		    { "mib", "16", NULL } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(idle);
