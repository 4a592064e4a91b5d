// SPDX-License-Identifier: GPL-2.0
/*
 * msync() of a mapped file. Each write after it must be noticed, or it is lost;
 * and the entries keep all that is neither their dirty nor their write bit.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "clean.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"

static void write_pages(const struct file *file, unsigned long kib,
			const struct mask *mask, uint64_t seed)
{
	mask_write(file->at, file->pages, kib, mask, seed);
}

/* The device has page n of `seed` or, outside the mask, of SEED. */
static void expect_image(const struct file *file, unsigned long kib,
			 const struct mask *mask, uint64_t seed)
{
	const char *image = file_image(file);
	size_t n;

	for (n = 0; n < file->pages; n++)
		expect_content(image + n * PAGE_SIZE, 1,
			       masked(mask, n, kib) ? seed : SEED, n);
}

/* One page of each folio is written after the cleaning: each page in turn. */
QUIRE_CASE_SIZES(clean, each_write_noticed, ALL_SIZES)
{
	size_t nr = folio_pages(kib), step = nr > BLOCK ? nr / BLOCK - 1 : 1;
	struct file file = file_range(kib);
	const char *image;
	size_t n, page;

	for (page = 0; page < nr; page += step) {
		file_sync(&file);
		EXPECT_EQ(smaps_kib(file.at, "Private_Dirty"), 0);
		for (n = 0; n < file.pages; n += nr) {
			pattern_write_page(page_at(file.at, n + page), SEED_NEW,
					   page);
			EXPECT(folio_dirty(&file, n),
			       "the write to page %zu was not noticed",
			       n + page);
		}
	}
	file_sync(&file);
	image = file_image(&file);
	for (n = 0; n < file.pages; n += nr) {
		for (page = 0; page < nr; page += step)
			expect_content(image + (n + page) * PAGE_SIZE, 1,
				       SEED_NEW, page);
	}
	file_drop(&file);
}

/*
 * A page is written just before and just after the cleaning: the TLB may still
 * have the entry by which it was writable. Before, `nr` pages are writable.
 */
static void check_at_once(const struct file *file, size_t n, size_t nr)
{
	char *at = page_at(file->at, n);

	volatile char *byte = at;

	pattern_write(at, nr * PAGE_SIZE, SEED_NEW);
	*byte = 1;
	if (msync(at, nr * PAGE_SIZE, MS_SYNC))
		die_errno("msync of %zu pages", nr);
	*byte = 2;
	EXPECT(folio_dirty(file, n), "the write to page %zu was not noticed", n);
}

QUIRE_CASE_SIZES(clean, written_at_once, ALL_SIZES)
{
	struct file file = file_range(kib);
	size_t n, nr = folio_pages(kib), step = nr > BLOCK ? nr / BLOCK : 1;

	file_sync(&file);
	for (n = 0; n < file.pages; n += nr)
		check_at_once(&file, n, nr);
	file_sync(&file);
	/* On arm64, no block is folded when two of its pages are cleaned */
	for (n = 0; nr > 1 && n < file.pages; n += MAX(step, 2)) {
		check_at_once(&file, n, 2);
		file_sync(&file);
	}
	file_drop(&file);
}

/* Some entries are dirty and writable, the others clean and read-only. */
QUIRE_CASE_SIZES(clean, some_written, ALL_SIZES)
{
	for_each_mask(mask) {
		struct file file = file_range(kib);

		file_sync(&file);
		expect_image(&file, kib, &mask_none, SEED_NEW);
		write_pages(&file, kib, mask, SEED_NEW);
		file_sync(&file);
		expect_image(&file, kib, mask, SEED_NEW);
		write_pages(&file, kib, mask_opposite(mask), SEED);
		file_sync(&file);
		write_pages(&file, kib, mask, SEED_CHILD);
		file_sync(&file);
		expect_image(&file, kib, mask, SEED_CHILD);
		file_drop(&file);
	}
}

/* Some entries are dirty and read-only: mprotect(). */
QUIRE_CASE_SIZES(clean, some_protected, ALL_SIZES)
{
	size_t n, run;

	for_each_mask(mask) {
		struct file file = file_range(kib);

		mask_protect(file.at, file.pages, kib, mask, PROT_READ);
		file_sync(&file);
		for (n = 0; (run = mask_run(mask, &n, file.pages, kib));
		     n += run)
			expect_read_only(page_at(file.at, n), run);
		range_protect(file.at, file.pages, PROT_READ | PROT_WRITE);
		write_pages(&file, kib, mask, SEED_NEW);
		file_sync(&file);
		expect_image(&file, kib, mask, SEED_NEW);
		file_drop(&file);
	}
}

/* Soft-dirty and the other bits of pagemap stay. */
QUIRE_CASE_SIZES(clean, entries_kept, ALL_SIZES)
{
	for_each_mask(mask) {
		struct file file = file_range(kib);
		struct snapshot *before;

		pagemap_clear_soft_dirty();
		write_pages(&file, kib, mask, SEED_NEW);
		before = snapshot(file.at, file.pages);
		file_sync(&file);
		expect_entries(before, file.at);
		free(before);
		file_drop(&file);
	}
}

/* An access is neither lost nor invented. */
QUIRE_CASE_SIZES(clean, accessed_kept, ALL_SIZES)
{
	unsigned long before, after;
	size_t n;

	for_each_mask(mask) {
		struct file file = file_range(kib);

		write_file("/proc/self/clear_refs", "1");
		range_protect(file.at, file.pages, PROT_READ);
		range_protect(file.at, file.pages, PROT_READ | PROT_WRITE);
		for (n = 0; n < file.pages; n++) {
			if (masked(mask, n, kib))
				*(volatile char *)page_at(file.at, n);
		}
		before = smaps_kib(file.at, "Referenced");
		/* file_sync() reads the pages. */
		if (msync(file.at, file.pages * PAGE_SIZE, MS_SYNC))
			die_errno("msync");
		after = smaps_kib(file.at, "Referenced");
		EXPECT(before == after,
		       "%s: %lu KiB were accessed before, %lu KiB after",
		       mask->name, before, after);
		file_drop(&file);
	}
}

/* The mapping of a folio ends inside of it. */
QUIRE_CASE_SIZES(clean, part_mapped, LARGE_SIZES)
{
	size_t i, nr = folio_pages(kib);
	const size_t cut[] = { 1, nr / 2, nr - 1 };

	for (i = 0; i < ARRAY_SIZE(cut); i++) {
		struct file file = file_range(kib);
		size_t n, gone = file.pages - cut[i];

		/* Private memory in its place, which must stay as it is. */
		if (mmap(page_at(file.at, gone), cut[i] * PAGE_SIZE,
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
			die_errno("cannot map over the end of the file");
		pattern_write(page_at(file.at, gone), cut[i] * PAGE_SIZE,
			      SEED_CHILD);
		if (msync(file.at, gone * PAGE_SIZE, MS_SYNC))
			die_errno("msync of %zu pages", gone);
		for (n = 0; n < gone; n++)
			EXPECT(!folio_dirty(&file, n), "page %zu is dirty", n);
		pattern_write_page(page_at(file.at, gone - 1), SEED_NEW, 0);
		EXPECT(folio_dirty(&file, gone - 1), "a write is not noticed");
		expect_content(page_at(file.at, gone), 1, SEED_CHILD, 0);
		file_drop(&file);
	}
}

/* The folio lies across two page tables after mremap(). */
QUIRE_CASE_SIZES(clean, across_pmd, LARGE_SIZES)
{
	size_t i, n, nr = folio_pages(kib);
	const size_t below[] = { 1, nr / 2, nr - 1 };

	for (i = 0; i < ARRAY_SIZE(below); i++) {
		struct file file = file_range(kib), moved = file;

		moved.at = range_hole(page_at(DST_BASE, PMD_PAGES - below[i]),
				      file.pages);
		move(file.at, file.pages, moved.at);
		pattern_write(moved.at, moved.pages * PAGE_SIZE, SEED_NEW);
		file_sync(&moved);
		for (n = 0; n < moved.pages; n += nr) {
			pattern_write_page(page_at(moved.at, n + nr - 1),
					   SEED_CHILD, n);
			EXPECT(folio_dirty(&moved, n),
			       "the write to page %zu was not noticed",
			       n + nr - 1);
		}
		range_drop(file.at, file.pages);
		file_drop(&moved);
	}
}
