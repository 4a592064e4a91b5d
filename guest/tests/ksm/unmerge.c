// SPDX-License-Identifier: GPL-2.0
/*
 * MADV_UNMERGEABLE of ranges with merged pages here and there. Each merged page
 * of the range becomes a page of its own, and no page outside of it does.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/fail.h"
#include "kernel/ksm.h"
#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/poison.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "run/ktap.h"

#include "ksm.h"

#define AREA		PLACE(0x2000000000, 0x40000000)
#define PMD_PAGES	(PMD_SIZE / PAGE_SIZE)
#define PAGES		(4 * PMD_PAGES)
#define SEED_MERGED	0x6e41u

/* Pages that are equal: at the ends of page tables, in a row, and after a hole */
static size_t merged[11];

static char *page_at(char *area, size_t page)
{
	return area + page * PAGE_SIZE;
}

static char *new_area(void)
{
	const size_t places[ARRAY_SIZE(merged)] = {
		0, 1, 2, 17, PMD_PAGES - 1, PMD_PAGES, PMD_PAGES + 1,
		3 * PMD_PAGES - 2, 3 * PMD_PAGES, PAGES - 2, PAGES - 1,
	};

	memcpy(merged, places, sizeof(merged));
	return folio_map(AREA, PAGES * PAGE_SIZE, PAGE_KIB);
}

/* full: the pages between them are mapped, too, except for a page table. */
static char *map_area(bool full)
{
	char *area = new_area();
	size_t i, n;

	if (full && !fits_memory(PAGES * PAGE_SIZE))
		SKIP("%zu MiB are more than a third of the memory",
		     PAGES * PAGE_SIZE / MIB);
	for (n = 0; full && n < PAGES; n++) {
		if (n / PMD_PAGES != 2)
			pattern_write_page(page_at(area, n), SEED, n);
	}
	for (i = 0; i < ARRAY_SIZE(merged); i++)
		pattern_write_page(page_at(area, merged[i]), SEED_MERGED, 0);
	ksm_mergeable(area, PAGES * PAGE_SIZE);
	return area;
}

static void merge_all(char *area)
{
	size_t i;

	for (i = 1; i < ARRAY_SIZE(merged); i++)
		ksm_merge(page_at(area, merged[0]), page_at(area, merged[i]));
}

/* From page `first` up to `end`, no page is shared; the others all are. */
static void expect_unmerged(char *area, uint64_t pfn, size_t first, size_t end)
{
	struct page_state state;
	bool inside;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(merged); i++) {
		inside = merged[i] >= first && merged[i] < end;
		state = pagemap_page(page_at(area, merged[i]));
		EXPECT(state.present, "page %zu is absent", merged[i]);
		EXPECT((state.pfn == pfn) == !inside, "page %zu is %smerged",
		       merged[i], inside ? "" : "not ");
		EXPECT(!inside || kpage_count(state.pfn) == 1,
		       "page %zu is shared", merged[i]);
		EXPECT(pattern_verify_page(page_at(area, merged[i]),
					   SEED_MERGED, 0) < 0,
		       "page %zu has wrong contents", merged[i]);
	}
}

static void unmerge(char *area, size_t first, size_t end)
{
	if (madvise(page_at(area, first), (end - first) * PAGE_SIZE,
		    MADV_UNMERGEABLE))
		die_errno("MADV_UNMERGEABLE of pages %zu to %zu", first, end);
}

static void unmerge_part(bool full, size_t first, size_t end)
{
	char *area = map_area(full);
	size_t before, after;
	uint64_t pfn;

	merge_all(area);
	pfn = pagemap_page(area).pfn;
	before = pagemap_present(area, PAGES);
	unmerge(area, first, end);
	after = pagemap_present(area, PAGES);
	EXPECT_EQ(after, before);	/* no hole was filled */
	expect_unmerged(area, pfn, first, end);
}

QUIRE_CASE_CALL(ksm, unmerge_holes, unmerge_part(false, 0, PAGES))
QUIRE_CASE_CALL(ksm, unmerge_full, unmerge_part(true, 0, PAGES))
QUIRE_CASE_CALL(ksm, unmerge_part_of_holes, unmerge_part(false, 1, PAGES - 1))
QUIRE_CASE_CALL(ksm, unmerge_part_of_full, unmerge_part(true, 2, PMD_PAGES + 1))
QUIRE_CASE_CALL(ksm, unmerge_last_of_table, unmerge_part(true, PMD_PAGES - 1, PMD_PAGES))
QUIRE_CASE_CALL(ksm, unmerge_none, unmerge_part(false, 18, PMD_PAGES - 1))

/* A merged page in swap is no merged page: it stays in swap. */
QUIRE_CASE(ksm, unmerge_beside_swap)
{
	char *area = map_area(true);
	uint64_t pfn;
	size_t i;

	swap_on(SWAP_FOR_TESTS);
	merge_all(area);
	pfn = pagemap_page(area).pfn;
	swap_out(page_at(area, 3), 14);
	unmerge(area, 0, PAGES);
	EXPECT_EQ(pagemap_swapped(page_at(area, 3), 14), 14);
	expect_unmerged(area, pfn, 0, PAGES);
	for (i = 3; i < 17; i++)
		EXPECT(pattern_verify_page(page_at(area, i), SEED, i) < 0,
		       "page %zu has wrong contents", i);
}

/* With use_zero_pages, a page of zeroes is merged with the zero page. */
QUIRE_CASE(ksm, unmerge_zero_pages)
{
	char *area = new_area();
	struct page_state state;
	size_t i;

	ksm_set("use_zero_pages", 1);
	for (i = 0; i < ARRAY_SIZE(merged); i++)
		memset(page_at(area, merged[i]), 0, PAGE_SIZE);
	ksm_mergeable(area, PAGES * PAGE_SIZE);
	ksm_pass(3);
	EXPECT_EQ(ksm_sysfs("ksm_zero_pages"), ARRAY_SIZE(merged));
	unmerge(area, 0, PAGES);
	EXPECT_EQ(ksm_sysfs("ksm_zero_pages"), 0);
	for (i = 0; i < ARRAY_SIZE(merged); i++) {
		state = pagemap_page(page_at(area, merged[i]));
		EXPECT(state.present && kpage_count(state.pfn) == 1,
		       "page %zu is not a page of its own", merged[i]);
	}
	EXPECT_EQ(pagemap_present(area, PAGES), ARRAY_SIZE(merged));
}

/* The zero page of a read is no merged page. */
QUIRE_CASE(ksm, unmerge_read_page)
{
	char *area = map_area(false);
	struct page_state before, after;

	merge_all(area);
	EXPECT(pattern_verify_zero(page_at(area, 100), PAGE_SIZE) < 0,
	       "a new page is not zero");
	before = pagemap_page(page_at(area, 100));
	unmerge(area, 0, PAGES);
	after = pagemap_page(page_at(area, 100));
	EXPECT_EQ(after.pfn, before.pfn);
}

/* ksmd is told to unmerge everything: the same walk, for all processes. */
QUIRE_CASE(ksm, unmerge_everything)
{
	char *area = map_area(true);
	uint64_t pfn;

	merge_all(area);
	pfn = pagemap_page(area).pfn;
	ksm_set("run", 2);
	expect_unmerged(area, pfn, 0, PAGES);
	ksm_set("run", 0);
}

/* Of a kernel with seeded bugs: the frame of which no copy can be made. */
#define UNCOPYABLE "/sys/module/memory/parameters/quire_uncopyable"

/* Two of the pages between the merged ones, merged with each other. */
#define BAD	5ul
#define BAD_TOO	6ul

static char *map_area_with_bad_pair(uint64_t *pfn, uint64_t *bad)
{
	char *area = map_area(true);

	pattern_write_page(page_at(area, BAD_TOO), SEED, BAD);
	merge_all(area);
	*pfn = pagemap_page(area).pfn;
	*bad = ksm_merge(page_at(area, BAD), page_at(area, BAD_TOO));
	return area;
}

static void expect_bad_pair(char *area, uint64_t bad)
{
	size_t page;

	for (page = BAD; page <= BAD_TOO; page++) {
		EXPECT_EQ(pagemap_page(page_at(area, page)).pfn, bad);
		EXPECT(pattern_verify_page(page_at(area, page), SEED, BAD) < 0,
		       "page %zu has wrong contents", page);
	}
}

/*
 * As by a machine check, two pages cannot be copied. The others are unmerged;
 * these stay merged, and ksmd still knows them. The caller is told, and can try
 * again.
 */
QUIRE_CASE(ksm, unmerge_uncopyable)
{
	uint64_t pfn, bad;
	char *area;
	long error;

	if (access(UNCOPYABLE, F_OK))
		SKIP("this kernel has no page that cannot be copied");
	ksm_begin();
	area = map_area_with_bad_pair(&pfn, &bad);
	write_file(UNCOPYABLE, "%" PRIu64, bad);
	error = act_unmergeable(area, PAGES);
	write_file(UNCOPYABLE, "0");
	EXPECT_EQ(error, EHWPOISON);
	expect_unmerged(area, pfn, 0, PAGES);
	expect_bad_pair(area, bad);
	EXPECT(smaps_flag(area, "mg"), "the range is not mergeable any more");
	unmerge(area, 0, PAGES);
	expect_unmerged(area, pfn, 0, PAGES);
	EXPECT(!ksm_merged(page_at(area, BAD), page_at(area, BAD_TOO)),
	       "the two pages are still merged");
}

/* Tells ksmd to unmerge everything. Returns 0 or an errno. */
static int unmerge_everything(void)
{
	int fd = open("/sys/kernel/mm/ksm/run", O_WRONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		die_errno("cannot open ksm/run");
	error = write(fd, "2", 1) == 1 ? 0 : errno;
	close(fd);
	return error;
}

/*
 * No memory for a copy: unmerging ends, the caller is told, the pages stay
 * merged and can be unmerged later.
 */
QUIRE_CASE(ksm, unmerge_no_memory)
{
	uint64_t pfn;
	char *area;
	long error;

	needs_failing_allocations();
	ksm_begin();
	area = map_area(false);
	merge_all(area);
	pfn = pagemap_page(area).pfn;
	fail_next_page();
	error = act_unmergeable(area, PAGES);
	fail_allocations_end();
	EXPECT_EQ(error, EAGAIN);	/* madvise() has no ENOMEM of this kind */
	expect_unmerged(area, pfn, 0, 0);
	EXPECT(smaps_flag(area, "mg"), "the range is not mergeable any more");

	fail_next_page();
	error = unmerge_everything();
	fail_allocations_end();
	EXPECT_EQ(error, ENOMEM);
	expect_unmerged(area, pfn, 0, 0);
	EXPECT_EQ(unmerge_everything(), 0);
	expect_unmerged(area, pfn, 0, PAGES);
	ksm_set("run", 0);
}

/* act: how many of the pages that map_area() makes equal are the page pfn. */
static long act_count_merged(char *area, long pfn)
{
	long count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(merged); i++)
		count += pagemap_page(page_at(area, merged[i])).pfn ==
			 (uint64_t)pfn;
	return count;
}

/*
 * The same when ksmd is told to unmerge everything: of three processes, the
 * second has the pages that stay. ksmd ends there, and the caller is told. The
 * pages can be found, and everything can be unmerged later.
 */
QUIRE_CASE(ksm, unmerge_uncopyable_everything)
{
	struct worker *second, *third;
	uint64_t pfn, bad;
	char *area;
	int error;

	if (access(UNCOPYABLE, F_OK))
		SKIP("this kernel has no page that cannot be copied");
	ksm_begin();
	area = map_area_with_bad_pair(&pfn, &bad);
	second = worker_fork(NULL);
	third = worker_fork(NULL);
	act_write(page_at(area, BAD), OTHER);
	act_write(page_at(area, BAD_TOO), OTHER + 1);
	worker_do(third, act_write, page_at(area, BAD), OTHER + 2);
	worker_do(third, act_write, page_at(area, BAD_TOO), OTHER + 3);
	write_file(UNCOPYABLE, "%" PRIu64, bad);
	error = unmerge_everything();
	write_file(UNCOPYABLE, "0");
	EXPECT_EQ(error, EHWPOISON);
	expect_unmerged(area, pfn, 0, PAGES);
	EXPECT_EQ(worker_do(second, act_count_merged, area, pfn), 0);
	EXPECT_EQ(kpage_count(bad), 2);
	EXPECT_EQ(unmerge_everything(), 0);
	EXPECT_EQ(worker_do(third, act_count_merged, area, pfn), 0);
	EXPECT(kpage_count(bad) < 2, "the two pages are still merged");
	ksm_set("run", 0);
}

/* A merged page that memory failure has unmapped is none any more. */
QUIRE_CASE(ksm, unmerge_beside_poisoned)
{
	uint64_t pfn, bad;
	char *area = map_area_with_bad_pair(&pfn, &bad);

	EXPECT(poison_page(page_at(area, BAD)), "the page was not handled");
	unmerge(area, 0, PAGES);
	expect_unmerged(area, pfn, 0, PAGES);
	EXPECT_EQ(pagemap_present(page_at(area, BAD), 2), 0);
	unpoison(bad);
}
