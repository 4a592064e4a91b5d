// SPDX-License-Identifier: GPL-2.0
/*
 * move_pages() of anonymous memory from node 0 to node 1, with one address for
 * each folio: the first address moves the whole folio, and further addresses
 * in it would only find it isolated.
 *
 * The call drains the LRU batches of all CPUs and waits for an RCU grace
 * period. The kworkers that do so, with one CPU, run in the region; that is a
 * constant part.
 */
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "report/die.h"
#include "run/bench.h"

#define DATA_SEED	0x319u
#define FROM	0
#define TO	1

static char *area;
static size_t area_len;
static bool by_ptes;
static size_t nr_folios;
static void **addrs;
static int *nodes;
static int *status;

static void set_policy(int mode, unsigned long mask)
{
	if (syscall(SYS_set_mempolicy, mode, mask ? &mask : NULL,
		    mask ? 8 * sizeof(mask) : 0))
		die_errno("cannot set the memory policy %d, mask %#lx", mode,
			  mask);
}

/* move_pages(); without `to` it reports the node of each folio. */
static long move_to(const int *to)
{
	return syscall(SYS_move_pages, 0, nr_folios, addrs, to, status,
		       MPOL_MF_MOVE);
}

static void require_node(int node, const char *when)
{
	size_t n;

	if (move_to(NULL))
		die_errno("cannot ask for the nodes of %zu folios", nr_folios);
	for (n = 0; n < nr_folios; n++) {
		if (status[n] != node)
			bench_fail("%s folio %zu is on node %d, not %d", when,
				   n, status[n], node);
	}
}

static void prepare_lists(unsigned long kib)
{
	size_t n;

	nr_folios = area_len / (kib * KIB);
	addrs = calloc(nr_folios, sizeof(*addrs));
	nodes = calloc(nr_folios, sizeof(*nodes));
	status = calloc(nr_folios, sizeof(*status));
	if (!addrs || !nodes || !status)
		die("no memory for lists of %zu folios", nr_folios);
	for (n = 0; n < nr_folios; n++) {
		addrs[n] = area + n * kib * KIB;
		nodes[n] = TO;
	}
}

static void check_layout(void)
{
	unsigned long kib = bench_number("size");

	if (by_ptes)
		bench_check_folios(area, area_len, kib);
	else
		bench_check_layout(area, area_len, kib);
}

static void setup(void)
{
	unsigned long kib = bench_number("size");

	if (access("/sys/devices/system/node/node1", F_OK))
		die("this boot has one memory node; add numa=fake=2 to the "
		    "kernel's parameters");
	area_len = bench_number("mib") * MIB;
	area = folio_map(NULL, area_len, kib);
	set_policy(MPOL_BIND, 1ul << FROM);
	pattern_write(area, area_len, DATA_SEED);
	set_policy(MPOL_DEFAULT, 0);
	if (by_ptes)
		range_split_pmds(area, area_len / PAGE_SIZE);
	check_layout();
	prepare_lists(kib);
	require_node(FROM, "before the move");
	env_drain_lru();
	bench_work(area_len / PAGE_SIZE, 1);
}

static void setup_ptes(void)
{
	by_ptes = true;
	setup();
}

static void require_moved(long left, size_t folios)
{
	if (left < 0)
		die_errno("move_pages of %zu folios", folios);
	if (left)
		bench_fail("%ld of %zu folios did not move", left, folios);
}

static void run(void)
{
	long left;

	env_after_tick();
	quire_start();
	left = move_to(nodes);
	quire_stop();
	require_moved(left, nr_folios);
}

static void run_each(void)
{
	size_t n;

	for (n = 0; n < nr_folios; n++) {
		long left;

		env_after_tick();
		quire_start();
		left = syscall(SYS_move_pages, 0, 1ul, addrs + n, nodes, status,
			       MPOL_MF_MOVE);
		quire_stop();
		require_moved(left, 1);
	}
}

static void verify(void)
{
	long bad;

	require_node(TO, "after the move");
	check_layout();
	bad = pattern_verify(area, area_len, DATA_SEED);
	if (bad >= 0)
		bench_fail("page %ld has wrong data", bad);
}

#define COUNTERS							\
	.vmstat = { "pgmigrate_success", "pgmigrate_fail", "thp_split_page" }, \
	.mthp = { "split" }

static const struct workload migrate = {
	.name = "migrate",
	.summary = "move_pages of anonymous memory to another node",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	COUNTERS,
	.setup = setup,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(migrate);

static const struct workload migrate_ptes = {
	.name = "migrate-ptes",
	.summary = "the same, huge folios being mapped by PTEs",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	COUNTERS,
	.setup = setup_ptes,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(migrate_ptes);

static const struct workload migrate_each = {
	.name = "migrate-each",
	.summary = "move_pages folio by folio: how long is each not accessible",
	.params = { PARAM_SIZE, { "mib", "1", NULL } },
	COUNTERS,
	.setup = setup,
	.run = run_each,
	.verify = verify,
};
QUIRE_WORKLOAD(migrate_each);
