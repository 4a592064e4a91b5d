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
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/env.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "proc/knob.h"
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

/*
 * Only every second page has been accessed since its accessed bit was cleared.
 * On arm64, the bit of a contpte block is that of all its pages.
 */
static void setup_alternating(void)
{
	size_t n, pages;

	setup_ptes();
	pages = area_len / PAGE_SIZE;
	write_file("/proc/self/clear_refs", "1");
	/* An access through an old TLB entry would not set the bit. */
	range_protect(area, pages, PROT_READ);
	range_protect(area, pages, PROT_READ | PROT_WRITE);
	for (n = 0; n < pages; n += 2)
		(void)*(volatile const char *)(area + n * PAGE_SIZE);
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

/*
 * migrate-touched: a thread touches folios while another moves them. The kernel
 * moves them in batches: it replaces the entries of all folios of a batch, then
 * copies and maps one after the other. So a thread that touches the first folio
 * of a batch waits longest. The region is this fault alone, from its begin to
 * its end, with what the kernel does in the other thread meanwhile.
 *
 * With one CPU the thread must run between the two halves. It looks every few
 * microseconds, with a real-time priority, and so gets the CPU wherever the
 * kernel gives it up. A touch that does not fault adds nothing. It needs a
 * timer that is finer than the tick.
 */
#define BATCH_SIZE	PMD_SIZE	/* NR_MAX_BATCHED_MIGRATION */
#define LOOK_NS		5000
#define FAULT_NS	20000	/* it has waited, rather than read a TLB entry */

static size_t nr_waited;
static bool moved;

static uint64_t time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static bool touch_waits(const char *page)
{
	uint64_t before = time_ns();

	quire_start();
	(void)*(volatile const char *)page;
	quire_stop();
	return time_ns() - before > FAULT_NS;
}

static void *touch(void *arg __attribute__((unused)))
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };

	while (nr_waited < area_len / BATCH_SIZE &&
	       !__atomic_load_n(&moved, __ATOMIC_RELAXED)) {
		nr_waited += touch_waits(area + nr_waited * BATCH_SIZE);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}

static void setup_touched(void)
{
	struct timespec resolution;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	if (resolution.tv_sec || resolution.tv_nsec > LOOK_NS)
		die("this machine has no timer finer than %ld ns",
		    resolution.tv_nsec);
	setup();
}

static pthread_t start_touching(void)
{
	struct sched_param first = { .sched_priority = 1 };
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) ||
	    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) ||
	    pthread_attr_setschedpolicy(&attr, SCHED_FIFO) ||
	    pthread_attr_setschedparam(&attr, &first) ||
	    pthread_create(&thread, &attr, touch, NULL))
		die("cannot start a thread with a real-time priority");
	return thread;
}

static void run_touched(void)
{
	pthread_t thread = start_touching();
	long left;

	env_after_tick();
	left = move_to(nodes);
	__atomic_store_n(&moved, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	require_moved(left, nr_folios);
	if (nr_waited != area_len / BATCH_SIZE)
		bench_fail("the thread waited %zu times, not %zu", nr_waited,
			   area_len / BATCH_SIZE);
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
	.mthp = { "split", "split_deferred" }

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
	.summary = "move_pages of huge folios that PTEs map to another node",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	COUNTERS,
	.setup = setup_ptes,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(migrate_ptes);

static const struct workload migrate_alternating = {
	.name = "migrate-alternating",
	.summary = "move_pages of folios of which every second page was accessed",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	COUNTERS,
	.setup = setup_alternating,
	.run = run,
	.verify = verify,
};
QUIRE_WORKLOAD(migrate_alternating);

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

static const struct workload migrate_touched = {
	.name = "migrate-touched",
	.summary = "how long a thread waits for the first folio of a batch",
	.params = { PARAM_SIZE, { "mib", "16", NULL } },
	COUNTERS,
	.setup = setup_touched,
	.run = run_touched,
	.verify = verify,
};
QUIRE_WORKLOAD(migrate_touched);
