// SPDX-License-Identifier: GPL-2.0
/*
 * Moves of shared memory and of files. A second mapping of the same file, the
 * view, shows which writes have reached it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/swap.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "process/cpu.h"
#include "process/map.h"

#define VIEW_BASE	PLACE(0x2180000000, 0x90000000)
/* Not aligned to 2 MiB, so that even such folios are mapped by PTEs. */
#define SRC		page_at(SRC_BASE, BLOCK)
#define DST		page_at(DST_BASE, 4 * BLOCK)

struct file {
	int fd;
	char *view;
	size_t pages;
};

static int reopen(const char *addr, size_t len)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
		 (unsigned long)addr, (unsigned long)addr + len);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die_errno("cannot open %s", path);
	return fd;
}

/*
 * In this kernel, only shared anonymous memory has folios of any size. Opened
 * through proc, it can be mapped like any other file.
 */
static struct file shmem_file(size_t pages, unsigned long kib)
{
	struct file file = { .view = VIEW_BASE, .pages = pages };
	size_t ok, total;

	stay_on_cpu(0);
	folio_want_shmem(kib);
	map_or_die(file.view, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pattern_write(file.view, pages * PAGE_SIZE, SEED);
	ok = folio_count(file.view, pages * PAGE_SIZE, kib, &total);
	if (ok != total)
		die("only %zu of %zu blocks of a file are folios of %lu KiB",
		    ok, total, kib);
	file.fd = reopen(file.view, pages * PAGE_SIZE);
	folio_want_shmem(PAGE_KIB);
	return file;
}

/*
 * Maps all of the file, MAP_SHARED or MAP_PRIVATE, and reads each page of it.
 */
static char *map_file(const struct file *file, char *at, int how)
{
	range_hole(at, file->pages);
	map_or_die(at, file->pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   how | MAP_FIXED_NOREPLACE, file->fd, 0);
	expect_content(at, file->pages, SEED, 0);
	return at;
}

#define FILE_CASE(name_, how_, ...)					\
	static void move_##name_(struct file file, char *from, char *to);	\
	QUIRE_CASE_SIZES(mremap, name_, __VA_ARGS__)			\
	{								\
		struct file file = shmem_file(range_pages(kib), kib);	\
		char *from = map_file(&file, SRC, how_);		\
									\
		move_##name_(file, from, range_hole(DST, file.pages));	\
	}								\
	static void move_##name_(struct file file, char *from, char *to)

FILE_CASE(file_shared, MAP_SHARED, ALL_SIZES)
{
	move_and_check(from, file.pages, to);
	expect_content(to, file.pages, SEED, 0);
	expect_writable(to, file.pages);
	expect_content(file.view, file.pages, SEED_NEW, 0);
	pattern_write(file.view, file.pages * PAGE_SIZE, SEED);
	expect_content(to, file.pages, SEED, 0);
	move_and_check(to, file.pages, from);
	expect_content(from, file.pages, SEED, 0);
}

QUIRE_CASE_SIZES(mremap, file_shared_unaligned, ALL_SIZES)
{
	struct file file = shmem_file(range_pages(kib), kib);
	char *from = map_file(&file, SRC, MAP_SHARED);
	char *to = range_hole(page_at(DST_BASE, PMD_PAGES - 3), file.pages);

	move_and_check(from, file.pages, to);
	expect_content(to, file.pages, SEED, 0);
	expect_writable(to, file.pages);
	expect_content(file.view, file.pages, SEED_NEW, 0);
}

/* Pages of the file, never writable, between copies of them, which are. */
FILE_CASE(file_private, MAP_PRIVATE, ALL_SIZES)
{
	size_t n;

	for (n = 0; n < file.pages; n += 1 + n / BLOCK % 5)
		pattern_write_page(page_at(from, n), SEED, n);
	move_and_check(from, file.pages, to);
	expect_content(to, file.pages, SEED, 0);
	expect_writable(to, file.pages);
	expect_content(file.view, file.pages, SEED, 0);
}

/*
 * No page was written, so all are the file's own pages: copied on the next
 * write.
 */
QUIRE_CASE_SIZES(mremap, file_private_untouched, ALL_SIZES)
{
	struct file file = shmem_file(range_pages(kib), kib);
	char *from = map_file(&file, SRC, MAP_PRIVATE);
	char *to = range_hole(page_at(DST, 1), file.pages);

	move_and_check(from, file.pages, to);
	pattern_write(file.view, file.pages * PAGE_SIZE, SEED_NEW);
	expect_content(to, file.pages, SEED_NEW, 0);
	pattern_write(to, file.pages * PAGE_SIZE, SEED);
	expect_content(file.view, file.pages, SEED_NEW, 0);
	expect_content(to, file.pages, SEED, 0);
}

FILE_CASE(file_dontunmap, MAP_PRIVATE, ALL_SIZES)
{
	struct snapshot *before;
	size_t n;

	for (n = 0; n < file.pages; n += 3)
		pattern_write_page(page_at(from, n), SEED_NEW, n);
	before = snapshot(from, file.pages);
	move_full(from, file.pages, file.pages, MREMAP_DONTUNMAP, to);
	expect_empty(from, file.pages);
	expect_changed(before, to, MOVED);
	expect_content(from, file.pages, SEED, 0);
	for (n = 0; n < file.pages; n++)
		expect_content(page_at(to, n), 1, n % 3 ? SEED : SEED_NEW, n);
	expect_writable(from, file.pages);
	expect_content(file.view, file.pages, SEED, 0);
	free(before);
}

FILE_CASE(file_dontunmap_shared, MAP_SHARED, ALL_SIZES)
{
	struct snapshot *before = snapshot(from, file.pages);

	move_full(from, file.pages, file.pages, MREMAP_DONTUNMAP, to);
	expect_empty(from, file.pages);
	expect_changed(before, to, MOVED);
	expect_content(from, file.pages, SEED, 0);
	expect_writable(to, file.pages);
	expect_content(from, file.pages, SEED_NEW, 0);
	free(before);
}

/* The kernel must find a file's pages at their present addresses. */
QUIRE_CASE_SIZES(mremap, file_truncated, ALL_SIZES)
{
	struct file file = shmem_file(range_pages(kib), kib);
	size_t n, kept = file.pages / 2 + 5;
	char *from = map_file(&file, SRC, MAP_SHARED);
	char *to = range_hole(DST, file.pages);
	uint64_t word;

	move_and_check(from, file.pages, to);
	if (ftruncate(file.fd, kept * PAGE_SIZE))
		die_errno("cannot truncate a file to %zu pages", kept);
	expect_content(to, kept, SEED, 0);
	expect_empty(page_at(to, kept), file.pages - kept);
	for (n = kept; n < file.pages; n++)
		EXPECT_EQ(probe_read(page_at(to, n), &word), SIGBUS);
	move_and_check(to, file.pages, from);
	expect_content(from, kept, SEED, 0);
	for (n = kept; n < file.pages; n++)
		EXPECT_EQ(probe_read(page_at(from, n), &word), SIGBUS);
}

/* Swapped out through its new place, swapped in through either. */
FILE_CASE(file_swapped, MAP_SHARED, ALL_SIZES)
{
	swap_on(SWAP_FOR_TESTS);
	unmap(file.view, file.pages * PAGE_SIZE);
	move_and_check(from, file.pages, to);
	page_out(to, file.pages * PAGE_SIZE);
	EXPECT_EQ(pagemap_present(to, file.pages), 0);
	move_and_check(to, file.pages, from);
	expect_content(from, file.pages, SEED, 0);
	expect_writable(from, file.pages);
}

/* A file with a name, on tmpfs with small pages or with folios of PMD_SIZE. */
static struct file tmpfs_file(unsigned long kib)
{
	struct file file = { .view = VIEW_BASE, .pages = range_pages(PMD_KIB) };
	const char *dir = "/tmp/mremap";
	size_t len = file.pages * PAGE_SIZE;

	must_fit(len);
	mkdir(dir, 0755);
	if (mount("tmpfs", dir, "tmpfs", 0,
		  kib == PAGE_KIB ? "huge=never" : "huge=always"))
		die_errno("cannot mount tmpfs on %s", dir);
	file.fd = open("/tmp/mremap/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file.fd < 0 || ftruncate(file.fd, len))
		die_errno("cannot make a file on %s", dir);
	map_or_die(file.view, len, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED_NOREPLACE, file.fd, 0);
	pattern_write(file.view, len, SEED);
	EXPECT(folio_is_size(file.view, kib), "no folio of %lu KiB", kib);
	/* The mount lives as long as the file, and is detached at once. */
	if (unlink("/tmp/mremap/file") || umount2(dir, MNT_DETACH))
		die_errno("cannot unmount %s", dir);
	return file;
}

QUIRE_CASE_SIZES(mremap, file_on_tmpfs, 4, 2048)
{
	struct file file = tmpfs_file(kib);
	char *shared = map_file(&file, SRC, MAP_SHARED);
	char *private = map_file(&file, page_at(DST2_BASE, 3), MAP_PRIVATE);
	char *to = range_hole(page_at(DST_BASE, 3), file.pages);

	move_and_check(private, file.pages, to);
	expect_content(to, file.pages, SEED, 0);
	expect_writable(to, file.pages);
	move_and_check(shared, file.pages, private);
	expect_content(private, file.pages, SEED, 0);
	expect_content(file.view, file.pages, SEED, 0);
	expect_writable(private, file.pages);
	expect_content(file.view, file.pages, SEED_NEW, 0);
}

/* A memfd that a child maps, too: the child sees what the parent writes. */
FILE_CASE(file_shared_with_child, MAP_SHARED, ALL_SIZES)
{
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_content(from, file.pages, SEED_NEW, 0);
		pattern_write(from, file.pages * PAGE_SIZE, SEED);
		peer_end(&peer);
	}
	move_and_check(from, file.pages, to);
	expect_writable(to, file.pages);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares a file");
	expect_content(to, file.pages, SEED, 0);
}
