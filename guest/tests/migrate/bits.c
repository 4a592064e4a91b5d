// SPDX-License-Identifier: GPL-2.0
/*
 * Folios whose pages have different bits. After they have moved, each page has
 * its own bits, not those of its neighbour.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/reclaim.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "migrate.h"
#include "proc/proc.h"
#include "report/die.h"
#include "tests/aging/aging.h"
#include "tests/clean/clean.h"

QUIRE_CASE_SIZES(migrate, moves, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	needs_nodes();
	for_each_mapping(by_pte, kib) {
		char *at = migrate_range(kib, by_pte);
		unsigned long rss = smaps_kib(at, "Rss");
		struct snapshot *before = snapshot(at, pages);

		migrate(at, pages);
		expect_same_bits(before, at);
		EXPECT_EQ(smaps_kib(at, "Rss"), rss);
		expect_folios(at, pages, kib);
		expect_content(at, pages, SEED, 0);
		expect_writable(at, pages);
		range_drop(at, pages);
		free(before);
	}
}

/*
 * Stock takes a folio that it has unmapped for a while for partially mapped, and
 * splits it before it moves again.
 */
QUIRE_CASE_SIZES_TAGGED(migrate, moves_twice, FIXES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	char *at;

	needs_nodes();
	at = migrate_range(kib, true);
	migrate(at, pages);
	migrate(at, pages);
	expect_folios(at, pages, kib);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES_TAGGED(migrate, not_queued_for_split, FIXES, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	unsigned long queued;
	char *at;

	needs_nodes();
	at = migrate_range(kib, true);
	queued = mthp_stat(kib, "split_deferred");
	migrate(at, pages);
	EXPECT_EQ(mthp_stat(kib, "split_deferred"), queued);
	range_drop(at, pages);
}

/* No CPU uses an old TLB entry: what is written now is in the new folio. */
QUIRE_CASE_SIZES(migrate, written_at_once, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	unsigned int round;
	char *at;

	needs_nodes();
	at = migrate_range(kib, true);
	for (round = 0; round < 4; round++) {
		uint64_t seed = SEED_NEW + round;

		migrate_fast(at, pages, kib);
		pattern_write(at, pages * PAGE_SIZE, seed);
		flush_range(at, pages);
		expect_content(at, pages, seed, 0);
	}
	range_drop(at, pages);
}

static void check_wp(unsigned long kib, const struct mask *mask, bool alike)
{
	size_t pages = range_pages(kib);
	char *at = migrate_range(kib, true);
	struct snapshot *before;
	int uffd;

	if (alike)
		fork_and_forget();
	uffd = wp_protect(at, pages, kib, mask);
	before = snapshot(at, pages);
	migrate(at, pages);
	expect_same_bits(before, at);
	expect_content(at, pages, SEED, 0);
	expect_wp_stopped(uffd, at, pages, kib, mask);
	close(uffd);
	range_drop(at, pages);
	free(before);
}

/* With `alike`, all entries are read-only, and only the protection differs. */
QUIRE_CASE_SIZES(migrate, wp_kept, ALL_SIZES)
{
	needs_nodes();
	for_each_mask(mask) {
		check_wp(kib, mask, false);
		check_wp(kib, mask, true);
	}
}

static void check_soft_dirty(unsigned long kib, const struct mask *mask,
			     bool alike)
{
	size_t n, pages = range_pages(kib);
	char *at = migrate_range(kib, true);
	struct snapshot *before;

	soft_dirty_where(at, pages, kib, mask);
	if (alike)
		fork_and_forget();
	before = snapshot(at, pages);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(before->page[n].soft_dirty, masked(mask, n, kib));
	migrate(at, pages);
	expect_same_bits(before, at);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(migrate, soft_dirty_kept, ALL_SIZES)
{
	needs_soft_dirty();
	needs_nodes();
	for_each_mask(mask) {
		check_soft_dirty(kib, mask, false);
		check_soft_dirty(kib, mask, true);
	}
}

/* The pages in the mask have been accessed; one CPU sets the bit each time. */
QUIRE_CASE_SIZES(migrate, young_kept, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	needs_nodes();
	for_each_mask(mask) {
		char *at = migrate_range(kib, true);
		unsigned long referenced;

		age_range(at, pages);
		access_pages(at, pages, kib, mask);
		referenced = smaps_kib(at, "Referenced");
		migrate(at, pages);
		EXPECT(smaps_kib(at, "Referenced") == referenced,
		       "%s: %lu KiB were accessed, not %lu KiB", mask->name,
		       smaps_kib(at, "Referenced"), referenced);
		range_drop(at, pages);
	}
}

/* Pages of a file: a dirty page must still reach the device. */
QUIRE_CASE_SIZES(migrate, dirty_file_written, 4, 16, 64, 256)
{
	size_t n;

	needs_nodes();
	for_each_mask(mask) {
		struct file file = file_range(kib);

		file_sync(&file);
		for (n = 0; n < file.pages; n++) {
			if (masked(mask, n, kib))
				pattern_write_page(page_at(file.at, n),
						   SEED_NEW, n);
		}
		migrate(file.at, file.pages);
		for (n = 0; n < file.pages; n++) {
			EXPECT(masked(mask, n, kib) <= folio_dirty(&file, n),
			       "%s: the folio of page %zu is clean",
			       mask->name, n);
			expect_content(page_at(file.at, n), 1,
				       masked(mask, n, kib) ? SEED_NEW : SEED,
				       n);
		}
		file_sync(&file);
		for (n = 0; n < file.pages; n++)
			expect_content(file_image(&file) + n * PAGE_SIZE, 1,
				       masked(mask, n, kib) ? SEED_NEW : SEED,
				       n);
		/* The next write is noticed, whatever the entry was before. */
		for (n = 0; n < file.pages; n++)
			pattern_write_page(page_at(file.at, n), SEED_CHILD, n);
		file_sync(&file);
		expect_content(file_image(&file), file.pages, SEED_CHILD, 0);
		file_drop(&file);
	}
}

/*
 * Pages that were given up by MADV_FREE and written to since: only the dirty bit
 * of the entry says that they must stay.
 */
QUIRE_CASE_SIZES(migrate, lazyfree_written_kept, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	needs_nodes();
	for_each_mask(mask) {
		char *at = migrate_range(kib, true);

		if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
			die_errno("MADV_FREE");
		flush_range(at, pages);
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, kib))
				pattern_write_page(page_at(at, n), SEED_NEW, n);
		}
		/* Only the dirty bits differ. */
		access_pages(at, pages, kib, MASK_ALL);
		migrate(at, pages);
		reclaim(at, pages, BY_PAGEOUT);
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, kib))
				expect_content(page_at(at, n), 1, SEED_NEW, n);
		}
		range_drop(at, pages);
	}
}

QUIRE_CASE_SIZES(migrate, shmem, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	needs_nodes();
	for_each_mask(mask) {
		char *at = range_shared(SRC_BASE, pages, kib);
		int uffd = wp_protect(at, pages, kib, mask);
		struct snapshot *before = snapshot(at, pages);

		migrate(at, pages);
		expect_same_bits(before, at);
		expect_content(at, pages, SEED, 0);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
		free(before);
	}
}

/*
 * Some pages are this process's alone, and a child shares the others. A write
 * to the former copies nothing, and the child does not see one to the latter.
 */
static void check_exclusive(unsigned long kib, const struct mask *alone,
			    bool read_only)
{
	size_t pages = range_pages(kib);
	char *at = migrate_range(kib, true);
	struct snapshot *before;
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone))
		sharer_writes(&peer, at, pages, kib, alone);
	if (read_only)
		range_protect(at, pages, PROT_READ);
	before = snapshot(at, pages);
	migrate(at, pages);
	expect_same_bits(before, at);
	free(before);
	if (read_only)
		range_protect(at, pages, PROT_READ | PROT_WRITE);
	expect_content(at, pages, SEED, 0);
	before = snapshot(at, pages);
	expect_writable(at, pages);
	EXPECT(!snapshot_moved(before, at, kib, alone),
	       "%zu exclusive pages (%s) were copied",
	       snapshot_moved(before, at, kib, alone), alone->name);
	peer_turn(&peer);	/* the child sees no write, and writes */
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(migrate, exclusive_kept, LARGE_SIZES)
{
	needs_nodes();
	for_each_mask(mask) {
		check_exclusive(kib, mask, false);
		check_exclusive(kib, mask, true);
	}
}
