// SPDX-License-Identifier: GPL-2.0
/*
 * A process that moved ranges leaves nothing behind: no page, no swap entry, no
 * count. The kernel itself reports a wrong count of the process at exit.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "mremap.h"
#include "proc/proc.h"
#include "process/child.h"
#include "report/die.h"

#define TURNS		10
#define DST		page_at(DST_BASE, BLOCK)
/* What the process itself may touch in between; less than a page per turn. */
#define SLACK_KIB	(32 * PAGE_SCALE)

static const char *const fields[] = {
	"AnonPages", "AnonHugePages", "Mapped", "Shmem", "ShmemHugePages",
};

struct counts {
	unsigned long kib[ARRAY_SIZE(fields)];
};

static struct counts count(void)
{
	struct counts counts;
	size_t i;

	/* Each CPU's part. */
	if (!counters_fold())
		die("a counter of /proc/vmstat is negative");
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		counts.kib[i] = meminfo_kib(fields[i]);
	return counts;
}

static void expect_counts(const struct counts *before)
{
	struct counts now = count();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		EXPECT(now.kib[i] <= before->kib[i] + SLACK_KIB &&
		       before->kib[i] <= now.kib[i] + SLACK_KIB,
		       "%s: %lu KiB, before the moves %lu KiB", fields[i],
		       now.kib[i], before->kib[i]);
}

/*
 * Moves of all kinds. After each, the counters of the memory must be correct.
 */
static void move_about(unsigned long kib)
{
	size_t turn, pages = mixed_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);

	for (turn = 0; turn < TURNS; turn++) {
		if (turn == 2)
			mix_states(from, pages);
		move_and_check(from, pages, to);
		if (turn == 4)
			page_out(to, pages / 2 * PAGE_SIZE);
		if (turn % 2)
			move_full(to, pages, pages, MREMAP_DONTUNMAP, from);
		else
			move_and_check(to, pages, from);
	}
	move(page_at(from, BLOCK / 2), BLOCK, page_at(to, 3));
}

QUIRE_CASE_SIZES(mremap, counters_at_exit, ALL_SIZES)
{
	struct counts before;
	pid_t pid;

	swap_on(SWAP_FOR_TESTS);
	before = count();
	pid = fork_child();
	if (!pid) {
		move_about(kib);
		exit(STATUS_OK);
	}
	wait_child(pid, "the child that moves ranges about");
	expect_counts(&before);
	/* Ends only when no swap entry is left. */
	swap_off();
}

static void move_and_drop(unsigned long kib)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);

	move_and_check(from, pages, to);
	EXPECT_EQ(smaps_kib(to, "Rss"), pages * PAGE_SIZE / KIB);
	EXPECT_EQ(smaps_kib(to, "Anonymous"), pages * PAGE_SIZE / KIB);
	range_drop(to, pages);
	range_drop(from, pages);
}

QUIRE_CASE_SIZES(mremap, counters_at_unmap, ALL_SIZES)
{
	struct counts before;
	unsigned int turn;

	/* Once before: the heap and the stack grow to their size. */
	move_and_drop(kib);
	before = count();
	for (turn = 0; turn < TURNS; turn++)
		move_and_drop(kib);
	expect_counts(&before);
}

/* A huge page that is moved to an aligned place stays one. */
QUIRE_CASE_SIZES(mremap, huge_pages_stay_huge, 2048)
{
	size_t pages = range_pages(kib);
	unsigned long len = pages * PAGE_SIZE / KIB;
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST_BASE, pages);
	char *off = range_hole(page_at(DST2_BASE, BLOCK), pages);

	EXPECT_EQ(smaps_kib(from, "AnonHugePages"), len);
	move_and_check(from, pages, to);
	EXPECT_EQ(smaps_kib(to, "AnonHugePages"), len);
	move_and_check(to, pages, off);
	EXPECT_EQ(smaps_kib(off, "AnonHugePages"), 0);
	expect_content(off, pages, SEED, 0);
	expect_writable(off, pages);
}
