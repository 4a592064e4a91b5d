// SPDX-License-Identifier: GPL-2.0
/*
 * One reverse walk over a KSM page whose anon_vma is shared by many VMAs.
 *
 * A private mapping gets its anon_vma by one page fault. Then mprotect() of
 * every second page splits it into single-page VMAs, which all share that
 * anon_vma. The page in the middle and one page elsewhere have the same data
 * and are merged. The measured call marks that page idle, so the kernel walks
 * all of its mappings once (see idle.h).
 *
 * kind=moved: mremap() moved the mapping before it was split, so page indexes
 * and addresses differ. kind=fork: a child has copies of all VMAs, and maps the
 * page in both places, too.
 *
 * ksm-migrate: the measured call moves that page to another node, as compaction
 * does: one walk unmaps it, another maps it again. ksm-swapout: it pages the
 * page out, as reclaim does; the other place was unmapped before, because
 * MADV_PAGEOUT leaves shared pages alone.
 */
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "kernel/ksm.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/idle.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/child.h"
#include "process/map.h"
#include "report/die.h"
#include "run/bench.h"

/* Far apart: neighbouring VMAs could share an anon_vma. */
#define OTHER_ADDR	((char *)(1 * GIB))
#define RANGE_ADDR	((char *)(4 * GIB))
#define FIRST_ADDR	((char *)(8 * GIB))	/* before a move */
#define SEED		0x6b5u
#define SWAP_MIB	16

static char *page;		/* the merged page in the split range */
static unsigned long mapped;	/* how many times it is mapped */
static struct idle_bit idle;

/* The child of kind=fork is asked to touch the page at an address. */
static int ask[2], answer[2];

static bool kind_is(const char *kind)
{
	return !strcmp(bench_word("kind"), kind);
}

static size_t page_offset(unsigned long vmas)
{
	return vmas / 2 / 2 * 2 * PAGE_SIZE;	/* even: stays writable */
}

/* Maps the range, written at one page, where it will be split. */
static void map_range(unsigned long vmas)
{
	bool moved = kind_is("moved");
	size_t len = vmas * PAGE_SIZE;
	char *p = map_anon(moved ? FIRST_ADDR : RANGE_ADDR, len);

	pattern_write_page(p + page_offset(vmas), SEED, 0);
	if (moved && mremap(p, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
			    RANGE_ADDR) != RANGE_ADDR)
		die_errno("cannot move %zu KiB to %p", len / KIB, RANGE_ADDR);
	page = RANGE_ADDR + page_offset(vmas);
}

static void cut_range(unsigned long vmas)
{
	unsigned long i, before = vma_count(), cut;

	for (i = 1; i < vmas; i += 2) {
		if (mprotect(RANGE_ADDR + i * PAGE_SIZE, PAGE_SIZE, PROT_READ))
			die_errno("cannot protect page %lu of the range", i);
	}
	cut = vma_count() - before + 1;
	if (cut != vmas)
		bench_fail("the range has %lu VMAs, not %lu", cut, vmas);
	bench_counter("vmas", 1, cut);
}

/* Accesses the page at p through a new TLB entry. */
static void touch(char *p)
{
	if (mprotect(p, PAGE_SIZE, PROT_NONE) ||
	    mprotect(p, PAGE_SIZE, PROT_READ | PROT_WRITE))
		die_errno("cannot change the protection of %p", p);
	*(volatile char *)p;
}

static void touch_in_child(char *p)
{
	if (write(ask[1], &p, sizeof(p)) != sizeof(p) ||
	    read(answer[0], &p, sizeof(p)) != sizeof(p))
		die_errno("the forked child does not answer");
}

static void child(void)
{
	char *p;

	close(ask[1]);
	while (read(ask[0], &p, sizeof(p)) == sizeof(p)) {
		touch(p);
		if (write(answer[1], &p, sizeof(p)) != sizeof(p))
			break;
	}
	_exit(STATUS_OK);
}

static void start_child(void)
{
	if (pipe(ask) || pipe(answer))
		die_errno("cannot make pipes");
	if (!fork_child())
		child();
	close(ask[0]);
	close(answer[1]);
}

static void setup(void)
{
	unsigned long vmas = bench_number("vmas");

	folio_want(PAGE_KIB);
	write_file("/proc/sys/vm/max_map_count", "%lu", vmas + 1000);
	map_range(vmas);
	map_anon(OTHER_ADDR, PAGE_SIZE);
	pattern_write_page(OTHER_ADDR, SEED, 0);
	cut_range(vmas);
	ksm_mergeable(page, PAGE_SIZE);
	ksm_mergeable(OTHER_ADDR, PAGE_SIZE);
	idle = idle_open(ksm_merge(page, OTHER_ADDR));
	if (kind_is("fork"))
		start_child();
	mapped = kpage_count(idle.pfn);
	bench_check_folios(page, PAGE_SIZE, PAGE_KIB);
	bench_counter("mapped", 0, mapped);
	bench_work(1, 1);
}

static void run(void)
{
	touch(page);
	env_after_tick();
	quire_start();
	idle_set(&idle);
	quire_stop();
}

/* Also if other processes map it. Returns its node. */
static int move_page(const int *to)
{
	void *addr = page;
	int status;

	if (syscall(SYS_move_pages, 0, 1ul, &addr, to, &status,
		    MPOL_MF_MOVE_ALL))
		die_errno("move_pages of the merged page");
	return status;
}

static void run_migrate(void)
{
	int to = !move_page(NULL);

	env_after_tick();
	quire_start();
	move_page(&to);
	quire_stop();
	if (move_page(NULL) != to)
		bench_fail("the merged page is not on node %d", to);
	idle = idle_open(pagemap_page(page).pfn);
}

static void setup_swapout(void)
{
	setup();
	if (munmap(OTHER_ADDR, PAGE_SIZE))
		die_errno("cannot unmap %p", OTHER_ADDR);
	swap_on(SWAP_MIB);
}

static void run_swapout(void)
{
	env_after_tick();
	quire_start();
	if (madvise(page, PAGE_SIZE, MADV_PAGEOUT))
		die_errno("madvise(MADV_PAGEOUT)");
	quire_stop();
}

static void verify_swapout(void)
{
	if (pagemap_swapped(page, 1) != 1)
		bench_fail("the merged page was not swapped out");
	if (pattern_verify_page(page, SEED, 0) >= 0)
		bench_fail("the merged page came back with wrong data");
}

/* Does a walk of the page's mappings reach the one at p? */
static void expect_seen(const char *where, void (*access)(char *), char *p)
{
	idle_set(&idle);
	access(p);
	if (idle_get(&idle))
		bench_fail("an access through %s was not seen", where);
}

static void verify(void)
{
	unsigned long want = kind_is("fork") ? 4 : 2;

	if (mapped != want)
		bench_fail("the merged page is mapped %lu times, not %lu",
			   mapped, want);
	idle_set(&idle);
	if (!idle_get(&idle))
		bench_fail("an access was seen where there was none");
	expect_seen("the split range", touch, page);
	expect_seen("the other place", touch, OTHER_ADDR);
	if (kind_is("fork")) {
		expect_seen("the child's range", touch_in_child, page);
		expect_seen("the child's other place", touch_in_child,
			    OTHER_ADDR);
	}
	if (pattern_verify_page(page, SEED, 0) >= 0 ||
	    pattern_verify_page(OTHER_ADDR, SEED, 0) >= 0)
		bench_fail("the merged page has wrong data");
	if (!ksm_merged(page, OTHER_ADDR))
		bench_fail("the page is no longer merged");
}

static const struct workload ksm_walk = {
	.name = "ksm-walk",
	.summary = "one reverse walk of a KSM page in an anon_vma of many VMAs",
	.params = { { "vmas", "22169", NULL },
		    { "kind", "plain", "plain|moved|fork" } },
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(ksm_walk);

static const struct workload ksm_migrate = {
	.name = "ksm-migrate",
	.summary = "move_pages of a KSM page in an anon_vma of many VMAs",
	.params = { { "vmas", "22169", NULL },
		    { "kind", "plain", "plain|moved|fork" } },
	.setup = setup,
	.run = run_migrate,
	.verify = verify,
};
QUIRE_WORKLOAD(ksm_migrate);

static const struct workload ksm_swapout = {
	.name = "ksm-swapout",
	.summary = "MADV_PAGEOUT of a KSM page in an anon_vma of many VMAs",
	.params = { { "vmas", "22169", NULL }, { "kind", "plain", "plain|moved" } },
	.setup = setup_swapout,
	.run = run_swapout,
	.verify = verify_swapout,
};
QUIRE_WORKLOAD(ksm_swapout);
