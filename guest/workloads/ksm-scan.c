// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a page that ksmd scans.
 *
 * ksmd is started and stopped once for each pass. It holds a mutex during its
 * batch, which is a whole pass here, and stopping it takes that mutex. So the
 * stop returns when the pass has ended, and the region contains one pass and
 * hardly anything else.
 *
 * kind=unmerged: all pages differ; each is looked up among the others of this
 * pass. kind=merged: each page has an equal, and all are merged already.
 * kind=merging: the passes in which they are merged. All three run without
 * smart scan. kind=smart: all pages differ, and are so old that smart scan
 * skips most of them in each pass; a skipped page counts as scanned. kind=changed:
 * the same with pages that are written to before each pass. kind=written: pages
 * that were merged are written to once, and all differ from then on; the next
 * passes of smart scan. kind=pinned: the first pages are pinned by direct I/O,
 * and each has one equal, with which it cannot be merged; many passes of smart
 * scan. The counter cow_ksm is how often a page was merged in vain and copied
 * again.
 *
 * advisor=scan-time: the advisor chooses how many pages ksmd scans in a batch; its
 * least is a whole pass.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/env.h"
#include "kernel/ksm.h"
#include "kernel/pin.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

#define KNOBS		"/sys/kernel/mm/ksm"
#define AREA		((char *)(4 * GIB))
#define SEED		0x5ca2u
#define PASSES		4u	/* measured; the third merges the last page */
#define PASSES_SMART	18u	/* twice the longest period of smart scan */
#define PASSES_WRITTEN	40u
#define PASSES_PINNED	288u
#define SETTLE_PASSES	4u
#define SETTLE_SMART	66u	/* longer than any schedule takes to settle */
#define PAUSE_MS	20u	/* ksmd after a pass */
#define START_MS	1u	/* until ksmd has the mutex, or is done already */

static size_t pages;
static unsigned int writes;	/* to all pages, since they were first filled */
static int run_fd = -1;
static struct pin *pin;

static bool kind_is(const char *kind)
{
	return !strcmp(bench_word("kind"), kind);
}

static bool smart(void)
{
	return kind_is("smart") || kind_is("changed") || kind_is("written") ||
	       kind_is("pinned");
}

/* Pages n and n + pages / 2 are equal, or no two are. */
static size_t content(size_t n)
{
	if (kind_is("unmerged") || kind_is("smart") || kind_is("changed") || writes)
		return writes * pages + n;
	return n % (pages / 2);
}

static void fill(void)
{
	size_t n;

	for (n = 0; n < pages; n++)
		pattern_write_page(AREA + n * PAGE_SIZE, SEED, content(n));
}

static void rewrite(void)
{
	writes++;
	fill();
}

static void run_ksmd(const char *how)
{
	if (pwrite(run_fd, how, 1, 0) != 1)
		die_errno("cannot write %s to " KNOBS "/run", how);
}

/* Call while ksmd waits for work, not in the pause after a pass. */
static void pass(void)
{
	run_ksmd("1");
	sleep_ms(START_MS);
	run_ksmd("0");
}

/* One batch is a whole pass. The advisor refuses to be told the pages. */
static void advise(void)
{
	bool advised = strcmp(bench_word("advisor"), "none");

	write_file(KNOBS "/advisor_mode", "none");
	write_file(KNOBS "/pages_to_scan", "%zu", pages + 1);
	if (!advised)
		return;
	write_file(KNOBS "/advisor_max_pages_to_scan", "%zu", 2 * pages);
	write_file(KNOBS "/advisor_min_pages_to_scan", "%zu", pages + 1);
	write_file(KNOBS "/advisor_mode", "%s", bench_word("advisor"));
}

static void setup(void)
{
	unsigned int i, settle = SETTLE_PASSES;

	pages = bench_number("pages");
	if (kind_is("merging") || kind_is("pinned"))
		settle = 0;
	if (kind_is("smart") || kind_is("changed"))
		settle = SETTLE_SMART;
	if (pages % 2)
		die_usage("bench ksm-scan: pages=%zu is odd", pages);
	write_file(KNOBS "/smart_scan", "%u", smart());
	write_file(KNOBS "/sleep_millisecs", "%u", PAUSE_MS);
	advise();
	run_fd = open(KNOBS "/run", O_WRONLY | O_CLOEXEC);
	if (run_fd < 0)
		die_errno("cannot open " KNOBS "/run");
	folio_want(PAGE_KIB);
	map_anon(AREA, pages * PAGE_SIZE);
	fill();
	ksm_mergeable(AREA, pages * PAGE_SIZE);
	bench_check_folios(AREA, pages * PAGE_SIZE, PAGE_KIB);
	if (kind_is("pinned"))
		pin = pin_folios(AREA, pages / 2, PAGE_KIB, 0);
	for (i = 0; i < settle; i++) {
		if (kind_is("changed"))
			rewrite();
		pass();
		sleep_ms(2 * PAUSE_MS);
	}
	if (kind_is("written"))
		rewrite();
}

static unsigned long visited(void)
{
	return ksm_sysfs("pages_scanned") + ksm_sysfs("pages_skipped");
}

static void run(void)
{
	unsigned int i, nr = smart() ? PASSES_SMART : PASSES;
	unsigned long passes = ksm_sysfs("full_scans");
	unsigned long looks = ksm_sysfs("pages_scanned");
	unsigned long scanned = visited(), copied = vmstat("cow_ksm");

	if (kind_is("written"))
		nr = PASSES_WRITTEN;
	if (kind_is("pinned"))
		nr = PASSES_PINNED;
	for (i = 0; i < nr; i++) {
		if (kind_is("changed"))
			rewrite();
		env_after_tick();
		quire_start();
		pass();
		quire_stop();
		sleep_ms(2 * PAUSE_MS);
	}
	passes = ksm_sysfs("full_scans") - passes;
	scanned = visited() - scanned;
	if (passes != nr || scanned != nr * pages)
		bench_fail("ksmd scanned %lu pages in %lu passes, not %zu in %u",
			   scanned, passes, nr * pages, nr);
	bench_counter("pages_scanned", looks, ksm_sysfs("pages_scanned"));
	bench_counter("cow_ksm", copied, vmstat("cow_ksm"));
	bench_work(scanned, scanned);
}

static void verify(void)
{
	unsigned long want = content(pages - 1) >= pages - 1 ? 0 : pages / 2;
	unsigned long sharing = ksm_sysfs("pages_sharing");
	size_t n;

	if (pin) {
		want = pages / 2 - pin_count(pin);
		pin_end(pin);
	}
	if (sharing != want)
		bench_fail("%lu pages share another one, not %lu", sharing,
			   want);
	for (n = 0; n < pages; n++) {
		if (pattern_verify_page(AREA + n * PAGE_SIZE, SEED,
					content(n)) >= 0)
			bench_fail("page %zu has wrong data", n);
	}
	bench_counter("pages_sharing", 0, sharing);
}

static const struct workload ksm_scan = {
	.name = "ksm-scan",
	.summary = "passes of ksmd over an area of distinct or of equal pages",
	.params = { { "pages", "2048", NULL },
		    { "kind", "unmerged", "unmerged|merged|merging|smart|changed|written|pinned" },
		    { "advisor", "none", "none|scan-time" } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(ksm_scan);
