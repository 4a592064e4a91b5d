// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory with write protection by userfaultfd. When a PTE is zapped or
 * reclaimed, a marker keeps the protection, for each page of the batch.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/memcg.h"
#include "kernel/wp.h"
#include "swapout.h"

static char *shared(unsigned long kib)
{
	size_t pages = range_pages(kib);
	char *at;

	memcg_enter();
	at = range_shared(SRC_BASE, pages, kib);
	/* After swapout_start(), all new memory is locked. */
	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock of the shared range");
	return at;
}

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

QUIRE_CASE_SIZES(swapout, shmem_zapped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = shared(kib);
		int uffd = wp_protect(at, pages, kib, mask);

		if (madvise(at, pages * PAGE_SIZE, MADV_DONTNEED))
			die_errno("MADV_DONTNEED of shared memory");
		expect_markers(at, pages, kib, mask);
		expect_content(at, pages, SEED, 0);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
	}
}

/* Zapped in part: the pages that stay mapped keep their protection, too. */
QUIRE_CASE_SIZES(swapout, shmem_zapped_part, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	for_each_mask(mask) {
		const struct mask *gone = mask_opposite(mask);
		char *at = shared(kib);
		int uffd = wp_protect(at, pages, kib, mask);
		struct snapshot *now;
		size_t run;

		for (n = 0; (run = mask_run(gone, &n, pages, kib)); n += run) {
			if (madvise(page_at(at, n), run * PAGE_SIZE,
				    MADV_DONTNEED))
				die_errno("MADV_DONTNEED of shared memory");
		}
		now = snapshot(at, pages);
		for (n = 0; n < pages; n++)
			EXPECT_EQ(now->page[n].uffd_wp,
				  masked(mask, n, kib));
		expect_content(at, pages, SEED, 0);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
		free(now);
	}
}

static void check_reclaimed(unsigned long kib, const struct mask *mask,
			    enum how how)
{
	size_t pages = range_pages(kib);
	char *at = shared(kib);
	int uffd = wp_protect(at, pages, kib, mask);

	reclaim(at, pages, how);
	expect_markers(at, pages, kib, mask);
	expect_content(at, pages, SEED, 0);
	expect_wp_stopped(uffd, at, pages, kib, mask);
	close(uffd);
	range_drop(at, pages);
}

SWAPOUT_CASE(shmem_reclaimed, ALL_SIZES)
{
	for_each_mask(mask) {
		check_reclaimed(kib, mask, BY_PAGEOUT);
		check_reclaimed(kib, mask, BY_MEMCG);
	}
}

/* Counted once per page, however many are unmapped at once. */
SWAPOUT_CASE(shmem_unprotected, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		char *at = shared(kib);

		reclaim(at, pages, how);
		EXPECT_EQ(pagemap_present(at, pages), 0);
		expect_content(at, pages, SEED, 0);
		expect_writable(at, pages);
		range_drop(at, pages);
	}
}
