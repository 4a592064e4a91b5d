// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory with write protection by userfaultfd. When a PTE is zapped or
 * reclaimed, a marker keeps the protection, for each page of the batch.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/memcg.h"
#include "kernel/wp.h"
#include "swapout.h"

/* After swapout_start(), all new memory is locked. */
static char *shmem_range(unsigned long kib, bool by_pte __attribute__((unused)))
{
	char *at;

	memcg_enter();
	at = range_shared(SRC_BASE, range_pages(kib), kib);
	range_unlock(at, range_pages(kib));
	return at;
}

static const struct ground shmem = { .range = shmem_range };
static const struct ground shmem_swapping = {
	.start = start_swapping, .end = swapout_end, .range = shmem_range,
};

/* No page is mapped, and each protected page has left a marker. */
static void expect_markers(char *at, size_t pages, unsigned long kib,
			   const struct mask *mask)
{
	struct snapshot *now = snapshot(at, pages);
	size_t n;

	for (n = 0; n < pages; n++) {
		EXPECT(!now->page[n].present, "page %zu is still mapped", n);
		EXPECT(now->page[n].uffd_wp == masked(mask, n, kib),
		       "page %zu (protected: %s) has %s marker: %#llx", n,
		       mask->name, now->page[n].uffd_wp ? "a" : "no",
		       (unsigned long long)now->page[n].raw);
	}
	free(now);
}

TRIAL_CASE(swapout, shmem_zapped, shmem, MASKS, ALL_SIZES)
{
	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);

	range_advise(t->at, t->pages, MADV_DONTNEED);
	expect_markers(t->at, t->pages, t->kib, t->mask);
	expect_content(t->at, t->pages, SEED, 0);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
}

/* Zapped in part: the pages that stay mapped keep their protection, too. */
TRIAL_CASE(swapout, shmem_zapped_part, shmem, MASKS, ALL_SIZES)
{
	const struct mask *gone = mask_opposite(t->mask);
	struct snapshot *now;
	size_t n;

	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);

	mask_advise(t->at, t->pages, t->kib, gone, MADV_DONTNEED);
	now = snapshot(t->at, t->pages);
	for (n = 0; n < t->pages; n++)
		EXPECT_EQ(now->page[n].uffd_wp,
			  masked(t->mask, n, t->kib));
	expect_content(t->at, t->pages, SEED, 0);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
	free(now);
}

TRIAL_CASE(swapout, shmem_reclaimed, shmem_swapping, MASKS | HOWS, ALL_SIZES)
{
	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);

	reclaim(t->at, t->pages, t->how);
	expect_markers(t->at, t->pages, t->kib, t->mask);
	expect_content(t->at, t->pages, SEED, 0);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
}

/* Counted once per page, however many are unmapped at once. */
TRIAL_CASE(swapout, shmem_unprotected, shmem_swapping, HOWS, ALL_SIZES)
{
	reclaim(t->at, t->pages, t->how);
	EXPECT_EQ(pagemap_present(t->at, t->pages), 0);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}
