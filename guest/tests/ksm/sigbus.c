// SPDX-License-Identifier: GPL-2.0
/* Poison a merged page, and check which process got which signal. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/file.h"
#include "sigbus.h"
#include "memory/poison.h"
#include "memory/probe.h"

#define CORRUPT_PFN	"/sys/kernel/debug/hwpoison/corrupt-pfn"

/* The SIGBUS of this process, and how many. */
static volatile struct {
	int nr;
	int code;
	int lsb;
	char *addr;
} bus;

static void on_bus(int sig __attribute__((unused)), siginfo_t *info,
		   void *context __attribute__((unused)))
{
	bus.nr++;
	bus.code = info->si_code;
	bus.lsb = info->si_addr_lsb;
	bus.addr = info->si_addr;
}

long act_watch(char *addr __attribute__((unused)), long early)
{
	struct sigaction action = {
		.sa_sigaction = on_bus,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	if (sigaction(SIGBUS, &action, NULL))
		die_errno("cannot handle SIGBUS");
	if (prctl(PR_MCE_KILL, PR_MCE_KILL_SET,
		  early ? PR_MCE_KILL_EARLY : PR_MCE_KILL_LATE, 0, 0))
		die_errno("PR_MCE_KILL");
	return 0;
}

/* Was there exactly one SIGBUS, "action optional", for the page at addr? */
static long act_was_told(char *addr, long arg __attribute__((unused)))
{
	if (bus.nr == 1 && bus.code == BUS_MCEERR_AO && bus.addr == addr &&
	    bus.lsb == __builtin_ctzl(PAGE_SIZE))
		return true;
	diag("%d times SIGBUS; code %d, address %p, %d bits; expected %p",
	     bus.nr, bus.code, bus.addr, bus.lsb, addr);
	return false;
}

static long act_bus_count(char *addr __attribute__((unused)),
			  long arg __attribute__((unused)))
{
	return bus.nr;
}

/* Returns the signal that reading the page raises. */
static long act_read(char *addr, long arg __attribute__((unused)))
{
	uint64_t word;

	probe_init();
	return probe_read(addr, &word);
}

uint64_t poison(const struct mappings *all)
{
	uint64_t pfn = mappings_merged(all);
	char text[32];

	poison_or_skip();
	ASSERT(pfn, "the page to poison is not merged");
	snprintf(text, sizeof(text), "%" PRIu64, pfn);
	EXPECT(try_write_file(CORRUPT_PFN, text),
	       "the poisoned page was not handled: %s", strerror(errno));
	return pfn;
}

void expect_told(struct worker *who, char *addr)
{
	EXPECT(worker_do(who, act_was_told, addr, 0),
	       "process %d got no SIGBUS for the page at %p",
	       (int)worker_pid(who), addr);
}

void expect_told_once(struct worker *who)
{
	EXPECT_EQ(worker_do(who, act_bus_count, NULL, 0), 1);
}

void expect_not_told(struct worker *who)
{
	long nr = worker_do(who, act_bus_count, NULL, 0);

	EXPECT(!nr, "process %d got SIGBUS %ld times",
	       (int)worker_pid(who), nr);
}

void expect_out_of_reach(const struct mappings *all, uint64_t pfn)
{
	struct page_state state;
	size_t i;
	long sig;

	for (i = 0; i < all->nr; i++) {
		state = mapping_state(&all->at[i]);
		EXPECT(!state.present, "process %d still maps a page at %p",
		       (int)worker_pid(all->at[i].who), all->at[i].addr);
		sig = mapping_do(&all->at[i], act_read, 0);
		EXPECT(sig == SIGBUS, "process %d reads %p: signal %ld",
		       (int)worker_pid(all->at[i].who), all->at[i].addr, sig);
	}
	unpoison(pfn);
}
