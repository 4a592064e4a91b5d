// SPDX-License-Identifier: GPL-2.0
/* Operations on the system as a whole, and the initial state of programs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "fuzz.h"
#include "kernel/env.h"
#include "main.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/quire-fuzz"
#define KSM		"/sys/kernel/mm/ksm"
#define FOLIOS		"/sys/kernel/mm/transparent_hugepage"
#define KHUGEPAGED	FOLIOS "/khugepaged"
#define SWAP_MIB	(32 * PAGE_SCALE)

/*
 * ksmd sleeps so long after a pass; we check more often. Without mergeable
 * memory it makes no pass.
 */
#define PAUSE_MS	20u
#define LOOK_MS		4u
#define PASS_LIMIT_MS	400u
/* khugepaged sleeps so long, but begins a pass when it is told so anew. */
#define SLEEP_MS	"3600000"
#define SETTLE_MS	10u
/*
 * swapoff finds every entry within this virtual time, or a reference has
 * leaked.
 */
#define SWAPOFF_MS	400

static int cgroup = -1;
/* Its path; NULL: programs run without swap. */
static const char *swap_device;
static bool swapping;
static unsigned long folio_kib;
static bool smart;

static void on_alarm(int sig __attribute__((unused)))
{
}

static void ksm_set(const char *knob, unsigned long value)
{
	char path[64];

	snprintf(path, sizeof(path), KSM "/%s", knob);
	write_file(path, "%lu", value);
}

/* Any allocation may fail when asked to, without a report. */
static void allow_failures(void)
{
	static const char *const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s",
			 settings[i][0]);
		try_write_file(path, settings[i][1]);
	}
}

/* Without a device swap stays off. */
static void open_swap(enum swap_device device)
{
	if (device == SWAP_ZRAM)
		swap_device = swap_on(SWAP_MIB);
	else if (device == SWAP_BLOCK)
		swap_device = swap_on_block(SWAP_MIB);
	swapping = swap_device;
}

/*
 * khugepaged goes on: it runs while any policy allows PMD_SIZE, and looks at
 * once when it begins anew, in the middle of a program.
 */
static void set_folios(unsigned long kib, const char *word)
{
	const char *shmem = word;
	char path[100];

	if (kib == PAGE_KIB)
		return;
	if (kib == PMD_SIZE / KIB && !strcmp(word, "never"))
		shmem = "advise";
	/* Some sizes do not have this file. */
	snprintf(path, sizeof(path), FOLIOS "/hugepages-%lukB/shmem_enabled",
		 kib);
	if (!try_write_file(path, shmem) && errno != ENOENT)
		die_errno("cannot write %s", path);
	snprintf(path, sizeof(path), FOLIOS "/hugepages-%lukB/enabled", kib);
	write_file(path, "%s", word);
}

/*
 * Its children are known from their birth, so a program need not see to it. The
 * first process that khugepaged knows wakes it up: let it look.
 */
static void be_known_to_khugepaged(void)
{
	char *span = map_anon(folio_hole(PMD_SIZE), PMD_SIZE);

	set_folios(PMD_SIZE / KIB, "always");
	*(volatile char *)span = 1;
	if (madvise(span, PMD_SIZE, MADV_HUGEPAGE))
		die_errno("cannot ask for huge pages");
	unmap(span, PMD_SIZE);
	sleep_ms(SETTLE_MS);
}

void system_open(enum swap_device device)
{
	struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
	allow_failures();
	write_file(CGROUP_ROOT "/cgroup.subtree_control", "+memory");
	if (mkdir(CGROUP, 0755))
		die_errno("cannot make " CGROUP);
	cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup < 0)
		die_errno("cannot open " CGROUP);
	ksm_set("use_zero_pages", 0);
	ksm_set("smart_scan", 0);
	ksm_set("sleep_millisecs", PAUSE_MS);
	ksm_set("pages_to_scan", 1000000);	/* one batch is a whole pass */
	folio_kib = PAGE_KIB;
	folio_quiet_khugepaged();
	be_known_to_khugepaged();
	set_folios(PMD_SIZE / KIB, "never");
	write_file(KHUGEPAGED "/pages_to_scan", "1000000");
	write_file(KHUGEPAGED "/max_ptes_none", "%zu",
		   PMD_SIZE / PAGE_SIZE - 1);
	/* swapoff leaves the area empty, so it can be reused. */
	open_swap(device);
	pins_open();
	hints_open();
}

int system_cgroup(void)
{
	return cgroup;
}

/* At first no size is enabled. */
static void want(unsigned long kib)
{
	if (kib == folio_kib)
		return;
	set_folios(folio_kib, "never");
	set_folios(kib, "always");
	folio_kib = kib;
}

static void set_smart(bool on)
{
	if (on != smart)
		ksm_set("smart_scan", on);
	smart = on;
}

static void start_swapping(void)
{
	if (!swap_device || swapping)
		return;
	if (swapon(swap_device, 0))
		die_errno("cannot swap on %s", swap_device);
	swapping = true;
}

void system_reset(void)
{
	want(PAGE_KIB);
	set_smart(false);
	start_swapping();
}

/*
 * If a reference to an entry has leaked, swapoff() never ends. A signal ends
 * it.
 */
static bool stop_swapping(void)
{
	struct itimerval limit = { .it_value.tv_usec = SWAPOFF_MS * 1000 };
	struct itimerval none = { 0 };
	bool ok;

	setitimer(ITIMER_REAL, &limit, NULL);
	ok = !swapoff(swap_device);
	setitimer(ITIMER_REAL, &none, NULL);
	if (ok)
		swapping = false;
	return ok;
}

static struct outcome_text verb_folio(const struct op *op)
{
	if (op->number > 2048 || !folio_size_valid(folio_size(op->number)))
		return outcome_fmt("EINVAL");
	want(folio_size(op->number));
	return outcome_ok();
}

static struct outcome_text verb_swap(const struct op *op)
{
	bool on = !strcmp(op->word, "on");

	if (on && !swap_device)
		return outcome_fmt("ENODEV");
	if (on == swapping)
		return outcome_ok();
	if (on)
		start_swapping();
	else if (!stop_swapping())
		return outcome_of(false);
	return outcome_ok();
}

static struct outcome_text verb_smart(const struct op *op)
{
	set_smart(!strcmp(op->word, "on"));
	return outcome_ok();
}

/* Complete passes over all mergeable memory. */
static struct outcome_text verb_ksm(const struct op *op)
{
	unsigned long first = ksm_sysfs("full_scans"), done = 0;
	unsigned long waited = 0, seen;

	ksm_set("run", 1);
	while (done < op->number && waited <= PASS_LIMIT_MS) {
		sleep_ms(LOOK_MS);
		seen = ksm_sysfs("full_scans") - first;
		waited = seen > done ? 0 : waited + LOOK_MS;
		done = seen;
	}
	ksm_set("run", 0);
	return outcome_fmt("shared=%lu sharing=%lu", ksm_sysfs("pages_shared"),
			   ksm_sysfs("pages_sharing"));
}

/* Whether khugepaged has passed over all processes that it knows. */
static bool collapse_pass(void)
{
	unsigned long first = read_number(KHUGEPAGED "/full_scans");
	unsigned int waited;

	write_file(KHUGEPAGED "/scan_sleep_millisecs", SLEEP_MS);
	for (waited = 0; waited < PASS_LIMIT_MS; waited += LOOK_MS) {
		sleep_ms(LOOK_MS);
		if (read_number(KHUGEPAGED "/full_scans") > first)
			return true;
	}
	return false;
}

/* What it has collapsed shows in the pages. */
static struct outcome_text verb_khugepaged(const struct op *op)
{
	unsigned int pass;

	env_drain_lru();
	for (pass = 0; pass < op->number; pass++) {
		if (!collapse_pass())
			return outcome_fmt("late");
	}
	return outcome_ok();
}

static struct outcome_text verb_reclaim(const struct op *op
					__attribute__((unused)))
{
	int fd = open(CGROUP "/memory.reclaim", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open " CGROUP "/memory.reclaim");
	env_drain_lru();
	/*
	 * There is never as much as this asks for, so it always ends with
	 * EAGAIN.
	 */
	if (write(fd, "1G", 2) < 0 && errno != EAGAIN)
		die_errno("cannot reclaim");
	close(fd);
	return outcome_ok();
}

static struct outcome_text verb_compact(const struct op *op __attribute__((unused)))
{
	env_drain_lru();
	write_file("/proc/sys/vm/compact_memory", "1");
	return outcome_ok();
}

const struct verb global_verbs[] = {
	{ "folio", "n", .global = verb_folio, .setting = true },
	{ "swap", "w", .global = verb_swap },
	{ "smart", "w", .global = verb_smart, .setting = true },
	{ "ksm", "n", .global = verb_ksm },
	{ "khugepaged", "n", .global = verb_khugepaged },
	{ "reclaim", "", .global = verb_reclaim },
	{ "compact", "", .global = verb_compact },
	{ .name = NULL },
};

/* The interval at which the kernel folds small changes of memory.stat. */
#define STAT_MS		2100

/* Bytes of the cgroup's pages on the LRU lists, mapped or not. */
static unsigned long lru_bytes(void)
{
	static const char *const lists[] = {
		"inactive_anon", "active_anon", "unevictable",
		"inactive_file", "active_file",
	};
	unsigned long sum = 0;
	char *text = arena->scratch, *line;
	size_t i, len;

	if (read_file(CGROUP "/memory.stat", text, SCRATCH_SIZE) < 0)
		die_errno("cannot read " CGROUP "/memory.stat");
	while ((line = strsep(&text, "\n"))) {
		for (i = 0; i < ARRAY_SIZE(lists); i++) {
			len = strlen(lists[i]);
			if (!strncmp(line, lists[i], len) && line[len] == ' ')
				sum += strtoul(line + len, NULL, 10);
		}
	}
	return sum;
}

bool system_check(void (*line)(const char *fmt, ...))
{
	static unsigned long before;
	unsigned long now;

	/* First: this frees pages that are only in the swap cache. */
	if (swapping && !stop_swapping()) {
		line("x swap %lu\n", swap_used_kib() / PAGE_KIB);
		return false;
	}
	env_drain_lru();
	/* Not only before a complaint: what was read too low is no measure. */
	sleep_ms(STAT_MS);
	now = lru_bytes();
	if (now > before)
		line("x memory %lu\n", (now - before) / PAGE_SIZE);
	before = now;
	return true;
}
