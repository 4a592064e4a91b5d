// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel did during the run, and whether it was enough for a
 * meaningful test.
 */
#include "memory/folio.h"
#include "proc/proc.h"
#include "report/die.h"
#include "report/results.h"
#include "ops.h"
#include "soak.h"
#include "system.h"

/*
 * Counters of /proc/vmstat, and their minimal increase in a million operations.
 */
static const struct {
	const char *name;
	unsigned long least;
} events[] = {
	{ "pswpout", 100000 },
	{ "pswpin", 100000 },
	{ "pglazyfree", 20000 },
	{ "pglazyfreed", 5000 },
	{ "cow_ksm", 5000 },
	{ "pgmigrate_success", 1000 },
	{ "thp_split_page", 0 },
	{ "thp_swpout", 0 },
	{ "ksm_swpin_copy", 0 },
	{ "pgfault", 100000 },
};

static unsigned long before[ARRAY_SIZE(events)];
/* Of folios, as kernels with pages of 4 KiB have them. */
static const unsigned long sizes[] = { 16, 32, 64, 128, 256, 512, 1024, 2048 };
static unsigned long swpout_before[ARRAY_SIZE(sizes)];

static unsigned long swpout(size_t i)
{
	return mthp_stat(folio_size(sizes[i]), "swpout");
}

void events_before(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		before[i] = vmstat(events[i].name);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		swpout_before[i] = swpout(i);
}

static bool enough(const char *what, unsigned long is, unsigned long least)
{
	unsigned long scaled = least * operations() / 1000000;

	if (is >= scaled)
		return true;
	diag("only %lu of \"%s\", which is not enough: %lu would be", is, what,
	     scaled);
	return false;
}

static bool kinds_enough(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < nr_kinds; i++) {
		const struct tally *tally = &common->tally[i];

		results_line("soak kind %llu %llu %s",
			     (unsigned long long)tally->done,
			     (unsigned long long)tally->ns / 1000000,
			     kinds[i].name);
		if (kinds[i].run != do_watch || !common->unwatched)
			ok &= enough(kinds[i].name, tally->done, kinds[i].least);
	}
	return ok;
}

bool events_enough(void)
{
	unsigned long is;
	bool ok = kinds_enough();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		is = vmstat(events[i].name) - before[i];
		results_line("soak event %lu %s", is, events[i].name);
		ok &= enough(events[i].name, is, events[i].least);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		results_line("soak event %lu folios of %lu KiB to swap",
			     swpout(i) - swpout_before[i],
			     folio_size(sizes[i]));
	return ok;
}
