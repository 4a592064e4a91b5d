// SPDX-License-Identifier: GPL-2.0
/*
 * Lazily freed pages that the kernel writes to: direct I/O reads into the pages
 * themselves, not through the mapping. Their PTEs stay clean; only the folio is
 * marked dirty.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lazyfree.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "process/map.h"

/* A block device in memory, unused unless there is swap. */
#define SYSFS	"/sys/block/zram0"
#define DEVICE	"/dev/zram0"

/* Makes a device with page n of SEED_NEW at block n, open for direct I/O. */
static int device(size_t pages)
{
	size_t len = pages * PAGE_SIZE;
	char *buffer = map_anon(NULL, len);
	int fd;

	write_file(SYSFS "/disksize", "%zu", len);
	fd = open(DEVICE, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die_errno("cannot open " DEVICE " for direct I/O");
	pattern_write(buffer, len, SEED_NEW);
	if (pwrite(fd, buffer, len, 0) != (ssize_t)len)
		die_errno("cannot fill " DEVICE);
	unmap(buffer, len);
	return fd;
}

static void read_masked(int fd, char *addr, size_t pages, unsigned long kib,
			const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib) &&
		    pread(fd, page_at(addr, n), PAGE_SIZE, n * PAGE_SIZE) !=
		    (ssize_t)PAGE_SIZE)
			die_errno("direct read of block %zu", n);
	}
}

QUIRE_CASE_SIZES(lazyfree, direct_io_kept, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	int fd = device(pages);

	for_each_mask(mask) {
		for_each_mapping(by_pte, kib) {
			char *at = lazy_range(kib, by_pte);

			read_masked(fd, at, pages, kib, mask);
			reclaim(at, pages, BY_PAGEOUT);
			expect_survivors(at, pages, kib, mask);
			range_drop(at, pages);
		}
	}
	close(fd);
}

static void expect_new(char *addr, size_t pages, unsigned long kib,
		       const struct mask *mask)
{
	expect_masked(addr, pages, kib, mask, SEED_NEW);
}

/*
 * The same of folios of which another page was rewritten: a dirty folio stays
 * whole, whatever its entries tell.
 */
QUIRE_CASE_SIZES(lazyfree, direct_io_rewritten_kept, LARGE_SIZES)
{
	size_t pages = range_pages(kib);
	int fd = device(pages);

	for_each_mask(mask) {
		char *at = lazy_range(kib, true);

		lazy_unfold(at, pages);
		lazy_rewrite(at, pages, kib, MASK_LAST);
		read_masked(fd, at, pages, kib, mask);
		reclaim(at, pages, BY_PAGEOUT);
		expect_new(at, pages, kib, mask);
		expect_new(at, pages, kib, MASK_LAST);
		range_drop(at, pages);
	}
	close(fd);
}
