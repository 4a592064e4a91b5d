// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim unmaps many dirty folios, flushes the TLB once and then writes them.
 * Those in between that are not written, for whatever reason, are kept; and each
 * page is written once.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/large_file.h"
#include "kernel/memcg.h"
#include "kernel/pin.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "process/map.h"
#include "swapout.h"

#define FILE_MIB	(PAGE_SCALE == 1 ? 8 : 128)

/* Folios of kib in one page table: MADV_PAGEOUT takes them in one call. */
static char *table_range(unsigned long kib)
{
	char *at;

	memcg_enter();
	at = range_filled(SRC_BASE, PMD_PAGES, kib);
	range_unlock(at, PMD_PAGES);
	return at;
}

enum kind { WRITTEN, HELD, PINNED, FREED, REWRITTEN, NR_KINDS };

/* In each round, another kind comes first, and another one last. */
static enum kind kind_of(size_t folio, unsigned int round)
{
	return (folio + round) % NR_KINDS;
}

static bool is_kind(size_t folio, unsigned int round, enum kind kind)
{
	return kind_of(folio, round) == kind;
}

static void free_folio(char *addr, size_t pages)
{
	range_advise(addr, pages, MADV_FREE);
}

/* The first folio that is PINNED is pinned, and some of those that are HELD. */
static struct pin *make_kinds(char *at, unsigned long kib, unsigned int round,
			      struct hold *hold)
{
	size_t nr = folio_pages(kib), folio, pages = PMD_PAGES;
	struct pin *pin = NULL;

	for (folio = 0; folio < pages / nr; folio++) {
		char *addr = page_at(at, folio * nr);

		if (is_kind(folio, round, HELD) && hold->held < HOLD_USUAL)
			hold_page(hold, page_at(addr, nr - 1));
		else if (is_kind(folio, round, PINNED) && !pin)
			pin = pin_folios(addr, nr, kib, 0);
		else if (is_kind(folio, round, FREED) ||
			 is_kind(folio, round, REWRITTEN))
			free_folio(addr, nr);
		if (is_kind(folio, round, REWRITTEN))
			range_fill(addr, nr, kib, SEED);
	}
	return pin;
}

/* range_fill() of a folio begins with page 0 of the pattern. */
static void expect_kind(char *at, unsigned long kib, size_t folio,
			unsigned int round)
{
	size_t nr = folio_pages(kib), first = folio * nr;
	char *addr = page_at(at, first);

	if (is_kind(folio, round, FREED))
		expect_zero(addr, nr);
	else
		expect_content(addr, nr, SEED,
			       is_kind(folio, round, REWRITTEN) ? 0 : first);
}

static void check_kinds(unsigned long kib, unsigned int round)
{
	size_t nr = folio_pages(kib), folio, expected = 0;
	struct hold hold = hold_start();
	char *at = table_range(kib);
	struct pin *pin = make_kinds(at, kib, round, &hold);
	unsigned long written = vmstat("pswpout");

	page_out(at, PMD_SIZE);
	for (folio = 0; folio < PMD_PAGES / nr; folio++) {
		if (is_kind(folio, round, WRITTEN))
			EXPECT_EQ(pagemap_swapped(page_at(at, folio * nr), nr),
				  nr);
		if (!is_kind(folio, round, FREED))
			expected += nr;
	}
	hold_end(&hold);
	if (pin)
		pin_end(pin);
	memcg_reclaim();
	EXPECT_EQ(pagemap_present(at, PMD_PAGES), 0);
	written = vmstat("pswpout") - written;
	EXPECT(written == expected, "round %u: %lu pages were written, not %zu",
	       round, written, expected);
	for (folio = 0; folio < PMD_PAGES / nr; folio++)
		expect_kind(at, kib, folio, round);
	range_drop(at, PMD_PAGES);
}

SWAPOUT_CASE(among_others, 4, 16, 64, 256)
{
	unsigned int round;

	for (round = 0; round < NR_KINDS; round++)
		check_kinds(kib, round);
}

/*
 * A folio with a reference is unmapped, but not written: it stays in the swap
 * cache. Without the reference it is written, and it was not before.
 */
static void check_held(unsigned long kib, enum how how)
{
	size_t pages = range_pages(kib), held;
	char *at = swapout_range(kib, true);
	unsigned long written = vmstat("pswpout");
	struct hold hold;

	reclaim_to_swap_cache(at, pages, kib);
	hold = hold_folios(at, pages, kib, 0);
	held = hold.held * folio_pages(kib);
	reclaim(at, pages, how);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	EXPECT_EQ(vmstat("pswpout") - written, pages - held);
	expect_content(at, held, SEED, 0);
	hold_end(&hold);
	reclaim(at, pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	EXPECT_EQ(vmstat("pswpout") - written, pages);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}

SWAPOUT_CASE(held_written_once, LARGE_SIZES)
{
	check_held(kib, BY_PAGEOUT);
	check_held(kib, BY_MEMCG);
}

static void zswap_may_write(const char *answer)
{
	char path[200];

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.zswap.writeback",
		 memcg_path());
	if (access(path, F_OK))
		SKIP("this kernel cannot forbid zswap to write");
	write_file(path, answer);
}

/*
 * zswap has no room, and must not write: each folio is unmapped and then kept,
 * still dirty. Later it is written.
 */
SWAPOUT_CASE(refused, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	unsigned long written = vmstat("pswpout");

	if (access("/sys/module/zswap/parameters/enabled", F_OK))
		SKIP("this kernel has no zswap");
	zswap_may_write("0");
	write_file("/sys/module/zswap/parameters/max_pool_percent", "0");
	write_file("/sys/module/zswap/parameters/enabled", "Y");
	reclaim(at, pages, BY_PAGEOUT);
	reclaim(at, pages, BY_MEMCG);
	EXPECT_EQ(vmstat("pswpout") - written, 0);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	write_file("/sys/module/zswap/parameters/enabled", "N");
	write_file("/sys/module/zswap/parameters/max_pool_percent", "20");
	zswap_may_write("1");
	pattern_write(at, pages * PAGE_SIZE, SEED);
	reclaim(at, pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	EXPECT_EQ(vmstat("pswpout") - written, pages);
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}

/*
 * A private mapping of a file: pages that were written to are anonymous, and
 * folios of the file are between them.
 */
static void check_private(unsigned long kib, size_t step)
{
	size_t n, pages = PMD_PAGES, written = 0;
	int file = large_file(FILE_MIB, pages * PAGE_SIZE, kib);
	char *at = range_hole(SRC_BASE, pages);

	map_or_die(at, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
	range_unlock(at, pages);
	for (n = 0; n < pages; n++) {
		volatile char *page = page_at(at, n);

		if (n % step)
			page[0];
		else
			pattern_write_page(page_at(at, n), SEED, n);
		written += !(n % step);
	}
	page_out(at, pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_swapped(at, pages), written);
	for (n = 0; n < pages; n += step)
		EXPECT_EQ(pattern_verify_page(page_at(at, n), SEED, n), -1);
	range_drop(at, pages);
	close(file);
}

SWAPOUT_CASE(between_file_pages, 4, 64)
{
	check_private(kib, 2);
	check_private(kib, 7);
	check_private(kib, 64);
}
