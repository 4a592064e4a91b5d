// SPDX-License-Identifier: GPL-2.0
/* What moves with a folio. tests/matrix has the folios whose pages differ. */
#include "memory/pattern.h"
#include "migrate.h"
#include "proc/proc.h"
#include "tests/aging/aging.h"
#include "tests/clean/clean.h"
#include "tests/matrix/operations.h"

TRIAL_CASE(migrate, moves, on_nodes, MAPPINGS, ALL_SIZES)
{
	unsigned long rss = smaps_kib(t->at, "Rss");

	t->before = snapshot(t->at, t->pages);

	migrate(t->at, t->pages);
	expect_changed(t->before, t->at, NEW_FRAMES);
	EXPECT_EQ(smaps_kib(t->at, "Rss"), rss);
	expect_folios(t->at, t->pages, t->kib);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}

/*
 * Stock takes a folio that it has unmapped for a while for partially mapped, and
 * splits it before it moves again.
 */
TAGGED_TRIAL_CASE(migrate, moves_twice, FIXES, on_nodes, 0, LARGE_SIZES)
{
	migrate(t->at, t->pages);
	migrate(t->at, t->pages);
	expect_folios(t->at, t->pages, t->kib);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}

TAGGED_TRIAL_CASE(migrate, not_queued_for_split, FIXES, on_nodes, 0,
		  LARGE_SIZES)
{
	unsigned long queued;

	queued = mthp_stat(t->kib, "split_deferred");
	migrate(t->at, t->pages);
	EXPECT_EQ(mthp_stat(t->kib, "split_deferred"), queued);
}

/* No CPU uses an old TLB entry: what is written now is in the new folio. */
TRIAL_CASE(migrate, written_at_once, on_nodes, 0, ALL_SIZES)
{
	unsigned int round;

	for (round = 0; round < 4; round++) {
		uint64_t seed = SEED_NEW + round;

		migrate_fast(t->at, t->pages, t->kib);
		pattern_write(t->at, t->pages * PAGE_SIZE, seed);
		flush_range(t->at, t->pages);
		expect_content(t->at, t->pages, seed, 0);
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

static void act(struct trial *t)
{
	if (t->part)
		move_to_node(0, t->at, t->pages, 1);
	else
		migrate(t->at, t->pages);
}

const struct operation migration = {
	.ground = &on_nodes, .act = act,
	.changes = NEW_FRAMES,
};
