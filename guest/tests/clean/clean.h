/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the clean cases: a file on a filesystem with large folios, mapped
 * shared. Before the kernel writes a folio of it, it makes all entries of the
 * folio clean and read-only, so that the next write is noticed.
 */
#ifndef QUIRE_TESTS_CLEAN_H
#define QUIRE_TESTS_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/expect.h"
#include "memory/mask.h"
#include "memory/range.h"
#include "run/ktap.h"

struct file {
	int fd;
	size_t pages;
	char *at;	/* page n holds page n of SEED, and all entries are dirty */
};

/* A file of range_pages(kib) in folios of kib, mapped and written to. */
struct file file_range(unsigned long kib);
/* msync(); then no folio of the mapped pages is dirty. */
void file_sync(const struct file *file);
/* Is the folio of this page dirty, by its flag? */
bool folio_dirty(const struct file *file, size_t page);
/*
 * The file's data on the device, file->pages of it, whatever the page cache has.
 * Valid until the next call.
 */
const char *file_image(const struct file *file);
void file_drop(struct file *file);

#endif
