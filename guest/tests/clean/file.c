// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>
#include <unistd.h>

#include "clean.h"
#include "kernel/large_file.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/pagemap.h"
#include "process/map.h"

/* Of the file: a power of two, with room for some of the largest folios. */
#define FILE_MIB	(PAGE_SCALE == 1 ? 8 : 128)

static void map_file(struct file *file)
{
	range_hole(file->at, file->pages);
	map_or_die(file->at, file->pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED_NOREPLACE, file->fd, 0);
}

struct file file_range(unsigned long kib)
{
	struct file file = { .pages = range_pages(kib), .at = SRC_BASE };
	size_t n;

	file.fd = large_file(FILE_MIB, file.pages * PAGE_SIZE, kib);
	map_file(&file);
	pattern_write(file.at, file.pages * PAGE_SIZE, SEED);
	for (n = 0; n < file.pages; n += folio_pages(kib)) {
		if (!folio_is_size(page_at(file.at, n), kib))
			die("page %zu is in no folio of %lu KiB", n, kib);
	}
	return file;
}

bool folio_dirty(const struct file *file, size_t page)
{
	struct page_state state;

	/* Splitting the PMD of a file's folio unmaps it. */
	*(volatile char *)page_at(file->at, page);
	state = pagemap_page(page_at(file->at, page));
	if (!state.present)
		die("page %zu of the file is not mapped", page);
	return kpage_flags(state.pfn) & KPF_DIRTY;
}

void file_sync(const struct file *file)
{
	size_t n;

	if (msync(file->at, file->pages * PAGE_SIZE, MS_SYNC))
		die_errno("msync of %zu pages", file->pages);
	for (n = 0; n < file->pages; n++)
		EXPECT(!folio_dirty(file, n), "page %zu is still dirty", n);
}

const char *file_image(const struct file *file)
{
	static char *image;

	if (!image)
		image = map_anon(NULL, FILE_MIB * MIB);
	large_file_read_device(image, file->pages * PAGE_SIZE);
	return image;
}

void file_drop(struct file *file)
{
	range_drop(file->at, file->pages);
	close(file->fd);
}
