// SPDX-License-Identifier: GPL-2.0
/*
 * Smart scan: which pages it skips, and that the history of a merged page does
 * not count.
 */
#include "ksm.h"
#include "proc/proc.h"
#include "process/map.h"

/*
 * Passes after which a page is old. From then on ksmd looks at it in one of nine
 * passes; with the series, its checksum chooses which.
 */
#define OLD	48u
#define PERIOD	9u

static unsigned long skipped_in(unsigned int passes, unsigned int *done)
{
	unsigned long before = ksm_sysfs("pages_skipped");

	*done = ksm_pass(passes);
	return ksm_sysfs("pages_skipped") - before;
}

/* No page of the range has an equal: each is looked at now and then. */
static void unique_skipped(enum range_kind kind)
{
	unsigned long looks;
	unsigned int done;

	range_make(kind);
	ksm_pass(OLD);
	looks = skipped_in(4 * PERIOD, &done);
	looks = done * RANGE_PAGES - looks;
	EXPECT(looks >= done / PERIOD * RANGE_PAGES &&
	       looks <= (done / PERIOD + 1) * RANGE_PAGES,
	       "%lu pages were looked at %lu times in %u passes", RANGE_PAGES,
	       looks, done);
}

KSM_CASE(unique_pages_skipped, unique_skipped(PLAIN))
KSM_CASE(unique_pages_skipped_far, unique_skipped(FAR))

/* Two pages that can be merged, and no others. */
static struct mappings pair_alone(enum range_kind kind)
{
	struct mappings all = pair_make(kind);

	act_unmergeable(all.at[0].addr - MID * PAGE_SIZE, MID);
	act_unmergeable(all.at[0].addr + PAGE_SIZE, RANGE_PAGES - MID - 1);
	return all;
}

/*
 * Two equal pages are merged, however long one has been there when the other one
 * comes. Smart scan looks at each in one of nine passes, or more often.
 */
QUIRE_CASE_TIMEOUT(ksm, merged_at_any_age, 120)
{
	unsigned int passes;

	ksm_begin();
	for (passes = 0; passes < 32; passes++) {
		struct mappings all = { 0 };

		mappings_add(&all, NULL, twin_make(0));
		ksm_pass(passes);
		mappings_add(&all, NULL, twin_make(1));
		ksm_pass(40);
		EXPECT(mappings_merged(&all),
		       "two pages did not merge, one %u passes older", passes);
		unmap(all.at[0].addr, PAGE_SIZE);
		unmap(all.at[1].addr, PAGE_SIZE);
		ksm_pass(1);	/* forgets the pages: the next ones have their addresses */
	}
}

/*
 * Two pages were merged and then written to. In two passes they are too young
 * to be skipped; in twenty they are skipped often.
 */
static void written_scanned(enum range_kind kind)
{
	unsigned long skipped;
	struct mappings all = pair_alone(kind);
	unsigned int done;

	mappings_merge(&all);
	ksm_pass(5);
	act_write(all.at[0].addr, OTHER);
	act_write(all.at[1].addr, OTHER + 1);
	skipped = skipped_in(2, &done);
	EXPECT_EQ(done, 2);
	EXPECT_EQ(skipped, 0);
	skipped = skipped_in(20, &done);
	EXPECT(skipped > 2 * 8 && skipped < 2 * 20,
	       "two unique pages were skipped %lu times in %u passes", skipped,
	       done);
	act_write(all.at[0].addr, SAME);
	act_write(all.at[1].addr, SAME);
	mappings_merge(&all);
	expect_found(&all);
}

/*
 * The same of pages that had an age, and passes to skip, when they were merged.
 * between: the pages are written to after ksmd has visited one of them in a pass.
 */
static void written_old(unsigned int different, unsigned int merged, bool between)
{
	struct mappings all = pair_alone(PLAIN);
	size_t i;

	act_write(all.at[0].addr, OTHER);
	ksm_pass(different);
	act_write(all.at[0].addr, SAME);
	mappings_merge(&all);
	ksm_pass(merged);
	if (between)
		ksm_visit_first();
	act_write(all.at[0].addr, OTHER);
	act_write(all.at[1].addr, OTHER + 1);
	ksm_pass(different);
	act_write(all.at[0].addr, SAME);
	act_write(all.at[1].addr, SAME);
	mappings_merge(&all);
	expect_found(&all);
	for (i = 0; i < all.nr; i++)
		unmap(all.at[i].addr - MID * PAGE_SIZE, RANGE_PAGES * PAGE_SIZE);
	ksm_pass(1);	/* forgets the pages: the next ones have their addresses */
}

static void each_written_old(bool between)
{
	unsigned int different, merged;

	ksm_begin();
	for (different = 6; different < 12; different++)
		for (merged = 1; merged < 4; merged++)
			written_old(different, merged, between);
}

QUIRE_CASE_TIMEOUT(ksm, written_pages_scanned_old, 60)
{
	each_written_old(false);
}

QUIRE_CASE_TIMEOUT(ksm, written_pages_scanned_between, 60)
{
	each_written_old(true);
}

KSM_CASE(written_pages_scanned, written_scanned(PLAIN))
KSM_CASE(written_pages_scanned_moved, written_scanned(MOVED))
KSM_CASE(written_pages_scanned_high, written_scanned(HIGH))
KSM_CASE(written_pages_scanned_far, written_scanned(FAR))
