// SPDX-License-Identifier: GPL-2.0
/*
 * DAMON on physical memory: a sample makes a folio old, and sees later whether
 * any of its pages was accessed by any mapping.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "aging.h"
#include "base/clock.h"
#include "kernel/damon.h"
#include "kernel/env.h"
#include "process/child.h"
#include "report/die.h"

#define SAMPLE_MS	20
#define WINDOW_MS	200

/* A child reads pages of every second folio, until it is killed. */
static pid_t access_by_child(char *at, unsigned long kib,
			     const struct mask *mask)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);
	pid_t pid = fork_child();

	if (pid)
		return pid;
	for (;;) {
		for (n = 0; n < pages; n += 2 * nr)
			access_pages(page_at(at, n), nr, kib, mask);
		flush_range(at, pages);
		sleep_ms(1);
	}
}

static void end_child(pid_t pid)
{
	int status;

	if (kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid)
		die_errno("cannot end the process that reads");
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		die("the process that reads ended with status %#x", status);
}

static void check_damon(unsigned long kib, bool by_pte, const struct mask *mask)
{
	size_t n, pages = range_pages(kib), folios = pages / folio_pages(kib);
	unsigned int *found = calloc(folios, sizeof(*found));
	char *at = range_charged(kib, by_pte);
	pid_t pid;

	if (!found)
		die("no memory for %zu numbers", folios);
	env_drain_lru();
	pid = access_by_child(at, kib, mask);
	damon_start(at, folios, kib * KIB, SAMPLE_MS, WINDOW_MS);
	damon_accesses(found);
	damon_stop();
	end_child(pid);
	for (n = 0; n < folios; n++)
		EXPECT((found[n] > 0) == (n % 2 == 0),
		       "%s: folio %zu was accessed in %u samples", mask->name,
		       n, found[n]);
	free(found);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(aging, damon, 4, 16, 64, 256)
{
	const struct mask *const which[] = { MASK_FIRST, MASK_MIDDLE, MASK_LAST,
					     MASK_ALL };
	size_t n;

	if (!damon_available())
		SKIP("this kernel has no DAMON");
	for (n = 0; n < sizeof(which) / sizeof(which[0]); n++) {
		for_each_mapping(by_pte, kib)
			check_damon(kib, by_pte, which[n]);
	}
}
