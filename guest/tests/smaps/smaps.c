// SPDX-License-Identifier: GPL-2.0
/*
 * The sums of smaps. They are the same whether the pages of a folio are in one
 * mapping, where the kernel may take several at a time, or each in one of its
 * own.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/share.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"
#include "tests/aging/aging.h"
#include "tests/fork/fork.h"

static const char *const fields[] = {
	"Rss", "Pss", "Pss_Dirty", "Shared_Clean", "Shared_Dirty",
	"Private_Clean", "Private_Dirty", "Referenced", "Anonymous", "LazyFree",
	"Swap", "SwapPss",
};

#define NR_FIELDS	ARRAY_SIZE(fields)
#define RSS		0u
#define SWAP		(NR_FIELDS - 2u)
#define SWAP_PSS	(NR_FIELDS - 1u)

static void advise(char *at, size_t pages, int advice)
{
	range_advise(at, pages, advice);
}

static void add_line(const char *line, unsigned long *sums)
{
	unsigned long kib;
	char name[32];
	size_t f;

	if (sscanf(line, "%31[^:]: %lu kB", name, &kib) != 2)
		return;
	for (f = 0; f < NR_FIELDS; f++) {
		if (!strcmp(name, fields[f]))
			sums[f] += kib;
	}
}

/* The sums of all mappings of the range. */
static void read_sums(const char *at, size_t pages, unsigned long *sums)
{
	uintptr_t from = (uintptr_t)at, to = from + pages * PAGE_SIZE;
	FILE *smaps = fopen("/proc/self/smaps", "re");
	unsigned long start, end;
	bool inside = false;
	char line[256];

	if (!smaps)
		die_errno("cannot open /proc/self/smaps");
	memset(sums, 0, NR_FIELDS * sizeof(*sums));
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start >= from && end <= to;
		else if (inside)
			add_line(line, sums);
	}
	fclose(smaps);
}

/*
 * Each page has its own mapping while it is not to be dumped and its neighbours
 * are. With up to two processes a page counts whole or half, which is whole KiB.
 */
static void check_sums(char *at, size_t pages)
{
	unsigned long all[NR_FIELDS], each[NR_FIELDS];
	size_t f, n;

	read_sums(at, pages, all);
	for (n = 0; n < pages; n += 2)
		advise(page_at(at, n), 1, MADV_DONTDUMP);
	read_sums(at, pages, each);
	advise(at, pages, MADV_DODUMP);
	for (f = 0; f < NR_FIELDS; f++)
		EXPECT(all[f] == each[f], "%s: %lu KiB, and %lu of each page",
		       fields[f], all[f], each[f]);
	EXPECT_EQ(all[RSS] + all[SWAP], pages * PAGE_SIZE / KIB);
}

/* Some pages are shared, some accessed or dirty, some in small folios. */
static void check_mixed(unsigned long kib, const struct mask *mask)
{
	size_t pages = 2 * folio_pages(kib);
	char *at = range_filled(SRC_BASE, pages, kib);
	struct peer peer;

	check_sums(at, pages);
	advise(at, pages, MADV_FREE);
	mask_write(at, pages, kib, mask, SEED);
	check_sums(at, pages);
	range_fill(at, pages, kib, SEED);
	age_range(at, pages);
	access_pages(at, pages, kib, mask_opposite(mask));
	if (!fork_without(&peer, at, pages, kib, mask)) {
		sharer_looks(&peer, at, pages, kib, mask);
		exit(0);
	}
	check_sums(at, pages);
	/* Nothing tells entries of shared pages from those of others now. */
	range_protect(at, pages, PROT_READ);
	check_sums(at, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(smaps, sums_each_page, 16, 64)
{
	for_each_mask(mask)
		check_mixed(kib, mask);
}

/* A child has some of the entries, too; and some pages are in memory again. */
SWAPPING_CASE(smaps, swap_sums_each_page, 4, 16, 64, 2048)
{
	unsigned long mixed = kib < BLOCK_KIB ? BLOCK_KIB : kib;
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = fork_range(kib);
		struct peer peer;

		if (!fork_without(&peer, at, pages, mixed, mask)) {
			peer_wait(&peer);
			peer_end(&peer);
		}
		check_sums(at, pages);
		access_pages(at, pages, mixed, mask_opposite(mask));
		check_sums(at, pages);
		peer_turn(&peer);
		peer_join(&peer, "the child that shares some entries");
		range_drop(at, pages);
	}
}

/* More references than a slot of the swap table has room for (15). */
SWAPPING_CASE(smaps, swap_sums_of_many, 4, 64)
{
	size_t n, pages = range_pages(kib);
	unsigned long sums[NR_FIELDS];
	char *at = fork_range(kib);
	struct peer peers[31];

	for (n = 0; n < ARRAY_SIZE(peers); n++) {
		if (!fork_without(&peers[n], at, pages, BLOCK_KIB, MASK_FIRST)) {
			peer_wait(&peers[n]);
			peer_end(&peers[n]);
		}
	}
	/* Of each block, a page by itself and 15 that 32 processes share. */
	read_sums(at, pages, sums);
	EXPECT_EQ(sums[SWAP], pages * PAGE_SIZE / KIB);
	EXPECT_EQ(sums[SWAP_PSS], pages / BLOCK * (PAGE_SIZE +
		  (BLOCK - 1) * PAGE_SIZE / (ARRAY_SIZE(peers) + 1)) / KIB);
	for (n = 0; n < ARRAY_SIZE(peers); n++) {
		peer_turn(&peers[n]);
		peer_join(&peers[n], "one of many children");
	}
	range_drop(at, pages);
}

/* Nobody else has a part of a huge page: it counts whole. */
QUIRE_CASE(smaps, huge_page_pss)
{
	char *at = range_by_pmds(1);

	EXPECT_EQ(smaps_kib(at, "Pss"), PMD_KIB);
	EXPECT_EQ(smaps_kib(at, "Pss_Dirty"), PMD_KIB);
}

/*
 * A mapping of page frames, as of a device, has no pages that are counted. Perf maps
 * its buffer so.
 */
QUIRE_CASE(smaps, frames_are_no_pages)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int event = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
	char *at;

	if (event < 0 && errno == ENOSYS)
		SKIP("this kernel has no perf");
	if (event < 0)
		die_errno("perf_event_open");
	at = map_or_die(NULL, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			event, 0);
	if (!smaps_flag(at, "pf"))
		SKIP("this kernel's perf maps pages");
	EXPECT_EQ(smaps_kib(at, "Rss"), 0);
	unmap(at, 3 * PAGE_SIZE);
	close(event);
}
