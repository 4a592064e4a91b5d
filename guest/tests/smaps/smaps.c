// SPDX-License-Identifier: GPL-2.0
/*
 * The sums of smaps. They are the same whether the pages of a folio are in one
 * mapping, where the kernel may take several at a time, or each in one of its
 * own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "memory/share.h"
#include "report/die.h"
#include "run/ktap.h"
#include "tests/aging/aging.h"

static const char *const fields[] = {
	"Rss", "Pss", "Pss_Dirty", "Shared_Clean", "Shared_Dirty",
	"Private_Clean", "Private_Dirty", "Referenced", "Anonymous", "LazyFree",
	"Swap", "SwapPss",
};

#define NR_FIELDS	ARRAY_SIZE(fields)

static void advise(char *at, size_t pages, int advice)
{
	if (madvise(at, pages * PAGE_SIZE, advice))
		die_errno("madvise %d of %zu pages", advice, pages);
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
 * are. Pss is rounded down for each mapping, so that it may lose 1 KiB there.
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
		EXPECT(all[f] - each[f] <= (strstr(fields[f], "Pss") ? pages : 0),
		       "%s: %lu KiB, and %lu of each page by itself", fields[f],
		       all[f], each[f]);
	EXPECT_EQ(all[0], pages * PAGE_SIZE / KIB);
}

/* Some pages are shared, some accessed or dirty, some in small folios. */
static void check_mixed(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = 2 * folio_pages(kib);
	char *at = range_filled(SRC_BASE, pages, kib);
	struct peer peer;

	check_sums(at, pages);
	advise(at, pages, MADV_FREE);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			pattern_write_page(page_at(at, n), SEED, n);
	}
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
