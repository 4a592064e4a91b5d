// SPDX-License-Identifier: GPL-2.0
/*
 * DAMON on physical memory: a sample makes a folio old, and sees later whether
 * any of its pages was accessed by any mapping. On the memory of a process, it
 * looks at one entry.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aging.h"
#include "base/clock.h"
#include "kernel/damon.h"
#include "kernel/env.h"
#include "proc/idle_range.h"
#include "report/die.h"

#define SAMPLE_MS	20
#define WINDOW_MS	200

static void needs_damon(void)
{
	if (!damon_available())
		SKIP("this kernel has no DAMON");
}

static size_t damon_pages(unsigned long kib)
{
	size_t least = (DAMON_MIN_REGIONS + 1) * folio_pages(kib);
	size_t pages = range_pages(kib);

	return pages > least ? pages : least;
}

/*
 * A child reads pages of every second folio, until it is killed; before this
 * returns, all small folios. With large ones, 7.3 reports all as accessed then.
 */
static void access_by_child(struct peer *peer, char *at, unsigned long kib,
			    const struct mask *mask)
{
	size_t n, nr = folio_pages(kib), pages = damon_pages(kib);

	if (peer_fork(peer)) {
		peer_wait(peer);
		return;
	}
	for (n = 0; nr == 1 && n < pages; n++)
		access_pages(page_at(at, n), nr, kib, MASK_ALL);
	peer_go(peer);
	for (;;) {
		for (n = 0; n < pages; n += 2 * nr)
			access_pages(page_at(at, n), nr, kib, mask);
		flush_range(at, pages);
		sleep_ms(1);
	}
}

static void end_child(struct peer *peer)
{
	int status;

	close(peer->tell);
	close(peer->hear);
	if (kill(peer->pid, SIGKILL) || waitpid(peer->pid, &status, 0) != peer->pid)
		die_errno("cannot end the process that reads");
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		die("the process that reads ended with status %#x", status);
}

static void check_damon(unsigned long kib, bool by_pte, bool physical,
			const struct mask *mask)
{
	size_t n, pages = damon_pages(kib), folios = pages / folio_pages(kib);
	unsigned int *found = allocate(folios, sizeof(*found));
	char *at = range_filled(SRC_BASE, pages, kib);
	struct peer peer;

	if (by_pte && kib * KIB == PMD_SIZE)
		range_split_pmds(at, pages);
	env_drain_lru();
	access_by_child(&peer, at, kib, mask);
	if (physical)
		damon_start(at, folios, kib * KIB, SAMPLE_MS, WINDOW_MS);
	else
		damon_start_process(peer.pid, at, folios, kib * KIB, SAMPLE_MS,
				    WINDOW_MS);
	damon_accesses(found);
	damon_stop();
	end_child(&peer);
	for (n = 0; n < folios; n++)
		EXPECT((found[n] > 0) == (n % 2 == 0),
		       "%s: folio %zu was accessed in %u samples", mask->name,
		       n, found[n]);
	free(found);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(aging, damon, 4, 16, 64, 256, 2048)
{
	const struct mask *const which[] = { MASK_FIRST, MASK_MIDDLE, MASK_LAST,
					     MASK_ALL };
	size_t n;

	needs_damon();
	for (n = 0; n < sizeof(which) / sizeof(which[0]); n++) {
		for_each_mapping(by_pte, kib)
			check_damon(kib, by_pte, true, which[n]);
	}
}

QUIRE_CASE_SIZES(aging, damon_process, 4, 64, 2048)
{
	needs_damon();
	for_each_mapping(by_pte, kib)
		check_damon(kib, by_pte, false, MASK_ALL);
}

/*
 * The last pages of a range are looked at, at any of their bytes: the last one
 * ends a contpte block of arm64. No accessed bit of the next range may go.
 */
static void check_next_folio(unsigned long kib, bool by_pte)
{
	size_t nr = range_pages(kib);
	unsigned int found[DAMON_MIN_REGIONS];
	char *at = range_filled(SRC_BASE, 2 * nr, kib), *next = page_at(at, nr);
	struct idle_range *idle;

	if (by_pte && kib * KIB == PMD_SIZE)
		range_split_pmds(at, 2 * nr);
	env_drain_lru();
	idle = idle_range_open(next, nr);
	idle_range_mark(idle);
	idle_range_look(idle);
	EXPECT_EQ(idle_range_count(idle), nr / folio_pages(kib));
	flush_range(at, 2 * nr);
	access_pages(next, nr, kib, MASK_ALL);
	damon_start_process(getpid(), page_at(at, nr - DAMON_MIN_REGIONS), DAMON_MIN_REGIONS,
			    PAGE_SIZE, SAMPLE_MS, WINDOW_MS);
	damon_accesses(found);
	damon_stop();
	idle_range_look(idle);
	EXPECT(!idle_range_count(idle),
	       "%zu pages behind those that DAMON looked at are idle",
	       idle_range_count(idle));
	idle_range_close(idle);
	range_drop(at, 2 * nr);
}

QUIRE_CASE_SIZES(aging, damon_next_folio, 4, 64, 2048)
{
	needs_damon();
	for_each_mapping(by_pte, kib)
		check_next_folio(kib, by_pte);
}
