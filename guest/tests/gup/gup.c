// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a folio that the kernel finds for a system call. It takes them
 * in runs, and each page of a run gets what it would get by itself: it is the
 * page that is mapped there, it is not one that another process sees, and all
 * references to it are dropped at the end.
 *
 * Direct I/O pins pages without mmap_lock if it can, else under it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/env.h"
#include "kernel/lru_gen.h"
#include "kernel/swap.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"
#include "memory/share.h"
#include "process/map.h"
#include "report/die.h"
#include "run/ktap.h"

static void write_device(int fd, const char *from, size_t pages)
{
	ssize_t len = pages * PAGE_SIZE;

	if (pwrite(fd, from, len, 0) != len)
		die_errno("direct write of %zu pages", pages);
}

static void read_device(int fd, char *to, size_t pages)
{
	ssize_t len = pages * PAGE_SIZE;

	if (pread(fd, to, len, 0) != len)
		die_errno("direct read of %zu pages", pages);
}

/*
 * The first page is missing: the kernel gives up there to find pages without
 * mmap_lock, and finds the others with it.
 */
static void find_slowly(char *first)
{
	range_advise(first, 1, MADV_DONTNEED);
}

/* The pages in the mask are small folios with contents of their own. */
static void replace(char *at, size_t pages, unsigned long kib,
		    const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (!masked(mask, n, kib))
			continue;
		range_advise(page_at(at, n), 1, MADV_DONTNEED);
		pattern_write_page(page_at(at, n), SEED_NEW, n);
	}
}

/* The contents of a range after replace(), from its page `first` on. */
static void expect_replaced(const char *at, size_t first, size_t pages,
			    unsigned long kib, const struct mask *mask)
{
	size_t n;

	for (n = first; n < first + pages; n++, at += PAGE_SIZE)
		expect_content(at, 1, masked(mask, n, kib) ? SEED_NEW : SEED, n);
}

/* /proc/PID/mem finds one page at a time, by any address in it. */
static void check_addresses(unsigned long kib)
{
	size_t n, pages = range_pages(kib);
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char is;

	if (mem < 0)
		die_errno("cannot open /proc/self/mem");
	for_each_mapping(by_pte, kib) {
		char *at = range_of(kib, by_pte);

		for (n = 0; n < pages; n++) {
			const char *byte = page_at(at, n) + n % PAGE_SIZE;

			if (pread(mem, &is, 1, (off_t)(uintptr_t)byte) != 1)
				die_errno("cannot read byte %zu of page %zu",
					  n % PAGE_SIZE, n);
			EXPECT_EQ(is, *byte);
		}
		range_drop(at, pages);
	}
	close(mem);
}

/* From the start of a folio, and from within one. */
QUIRE_CASE_SIZES(gup, each_page, ALL_SIZES)
{
	size_t first, slow, pages = range_pages(kib);
	char *buffer = map_anon(NULL, pages * PAGE_SIZE);
	int fd = swap_open_spare(pages);

	check_addresses(kib);
	for_each_mask(mask) {
		char *at = range_by_ptes(kib);

		replace(at, pages, kib, mask);
		for (slow = 0; slow < 2; slow++) {
			for (first = 0; first < 2; first++) {
				size_t nr = pages - 2 * first;

				if (slow)
					find_slowly(page_at(at, first));
				write_device(fd, page_at(at, first), nr);
				read_device(fd, buffer, nr);
				expect_replaced(page_at(buffer, slow),
						first + slow, nr - slow, kib,
						mask);
			}
		}
		pattern_write(buffer, pages * PAGE_SIZE, SEED_CHILD);
		write_device(fd, buffer, pages);
		for (slow = 0; slow < 2; slow++) {
			range_fill(at, pages, kib, SEED);
			if (slow)
				find_slowly(at);
			read_device(fd, at, pages);
			expect_content(at, pages, SEED_CHILD, 0);
		}
		range_drop(at, pages);
	}
	close(fd);
}

/* What is written to this process's pages, a child that shares some must not see. */
static void check_writes(unsigned long kib, const struct mask *mask, bool slow,
			 int fd)
{
	size_t pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, mask)) {
		sharer_looks(&peer, at, pages, kib, mask);
		exit(0);
	}
	if (slow)
		find_slowly(at);
	read_device(fd, at, pages);
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(gup, writes_only_own, ALL_SIZES)
{
	int fd = swap_open_spare_filled(range_pages(kib), SEED_NEW);

	for_each_mask(mask) {
		check_writes(kib, mask, false, fd);
		check_writes(kib, mask, true, fd);
	}
	close(fd);
}

/* A page that is pinned for reading is no longer shared, however it is mapped. */
static void check_unshares(unsigned long kib, const struct mask *mask,
			   bool writable, int fd)
{
	size_t n, pages = range_pages(kib);
	char *at = range_by_ptes(kib);
	struct page_state page;
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, mask)) {
		sharer_looks(&peer, at, pages, kib, mask);
		exit(0);
	}
	if (!writable)
		range_protect(at, pages, PROT_READ);
	write_device(fd, at, pages);
	for (n = 0; n < pages; n++) {
		page = pagemap_page(page_at(at, n));
		EXPECT(page.exclusive, "page %zu is pinned and shared (%s)", n,
		       mask->name);
	}
	expect_content(at, pages, SEED, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(gup, pin_unshares, 16, 64, 256)
{
	int fd = swap_open_spare(range_pages(kib));

	for_each_mask(mask) {
		check_unshares(kib, mask, true, fd);
		check_unshares(kib, mask, false, fd);
	}
	close(fd);
}

/* Folios with a reference too many cannot be swapped out. */
QUIRE_CASE_SIZES(gup, references_dropped, ALL_SIZES)
{
	size_t slow, pages = range_pages(kib);
	int fd = swap_open_spare(pages);

	swap_on(SWAP_FOR_TESTS);
	for_each_mapping(by_pte, kib) {
		char *at = range_of(kib, by_pte);

		for (slow = 0; slow < 2; slow++) {
			write_device(fd, at, pages);
			if (slow)
				find_slowly(at);
			read_device(fd, at, pages);
		}
		find_slowly(at);
		write_device(fd, at, pages);
		read_device(fd, at, pages);
		env_drain_lru();
		swap_out(at, pages);
		expect_zero(at, 1);
		expect_content(page_at(at, 1), pages - 1, SEED, 1);
		range_drop(at, pages);
	}
	close(fd);
}

#define KPF_REFERENCED	(1ull << 2)
#define KPF_ACTIVE	(1ull << 6)
#define KPF_AGE		(KPF_REFERENCED | KPF_ACTIVE)

static void populate(char *at, size_t pages)
{
	range_advise(at, pages, MADV_POPULATE_READ);
}

static void check_marks(unsigned long kib)
{
	size_t n, pages = range_pages(kib);
	char *each = range_by_ptes(kib), *all = range_filled(DST_BASE, pages, kib);

	env_drain_lru();
	for (n = 0; n < pages; n++)
		populate(page_at(each, n), 1);
	populate(all, pages);
	for (n = 0; n < pages; n++) {
		uint64_t want = kpage_flags(pagemap_page(page_at(each, n)).pfn);
		uint64_t is = kpage_flags(pagemap_page(page_at(all, n)).pfn);

		EXPECT((want & KPF_AGE) == (is & KPF_AGE),
		       "page %zu: flags %#llx, not %#llx", n,
		       (unsigned long long)is, (unsigned long long)want);
	}
	range_drop(each, pages);
	range_drop(all, pages);
}

/* A folio of which all pages are asked for is as young as after each by itself. */
QUIRE_CASE_SIZES(gup, populate_marks_each, 16, 64, 256)
{
	lru_gen_enable(false);
	check_marks(kib);
	lru_gen_enable(true);
	check_marks(kib);
}
