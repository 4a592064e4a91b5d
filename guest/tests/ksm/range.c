// SPDX-License-Identifier: GPL-2.0
/* Memory to merge: ranges with all kinds of page indexes, and single twins. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ksm.h"
#include "memory/pattern.h"
#include "process/map.h"

#define FILE_NAME	"/tmp/ksm-range"

#ifndef MADV_SOFT_OFFLINE	/* in the kernel's headers, not in glibc's */
#define MADV_SOFT_OFFLINE	101
#endif

#define FILE_OFFSET	((off_t)0x123 * PAGE_SIZE)

/*
 * The page index is the offset divided by the page size. Its bits 32 to 39 are
 * 0x45, an age at which smart scan skips; its bits 40 to 47 are 3, the skips that
 * are left (stock).
 */
#define FAR_OFFSET	(((off_t)3 << 40 | (off_t)0x45 << 32 | 0x77) * PAGE_SIZE)

static char *map_file(char *home, off_t offset)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char *range;

	if (fd < 0)
		die_errno("cannot create " FILE_NAME);
	if (ftruncate(fd, offset + RANGE_PAGES * PAGE_SIZE))
		die_errno("cannot make " FILE_NAME " long enough");
	range = map_or_die(home, RANGE_PAGES * PAGE_SIZE,
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, offset);
	close(fd);
	unlink(FILE_NAME);
	return range;
}

void range_mergeable(char *addr, size_t pages)
{
	if (madvise(addr, pages * PAGE_SIZE, MADV_MERGEABLE))
		die_errno("MADV_MERGEABLE at %p", addr);
}

/* Contents that no other page has. */
static size_t number_of(const char *page)
{
	return (uintptr_t)page / PAGE_SIZE;
}

static void fill(char *range)
{
	size_t n;

	for (n = 0; n < RANGE_PAGES; n++)
		pattern_write_page(page_of(range, n), SEED,
				   n == MID ? SAME : number_of(page_of(range, n)));
	range_mergeable(range, RANGE_PAGES);
}

char *range_make_at(enum range_kind kind, char *home)
{
	char *range;

	if (kind == FILE_PAGES || kind == FILE_MOVED)
		range = map_file(home, FILE_OFFSET);
	else if (kind == FAR && NARROW)
		SKIP("an index has 32 bits");
	else if (kind == FAR)
		range = map_file(home, FAR_OFFSET);
	else
		range = map_anon(home, RANGE_PAGES * PAGE_SIZE);
	fill(range);
	return range;
}

char *range_make(enum range_kind kind)
{
	char *home = kind == HIGH ? HIGH_HOME : HOME;

	if (kind != MOVED && kind != FILE_MOVED)
		return range_make_at(kind, home);
	range_move(range_make_at(kind, ORIGIN), RANGE_PAGES, home);
	return home;
}

char *twin_make_at(char *addr)
{
	map_anon(addr, PAGE_SIZE);
	range_mergeable(addr, 1);	/* beside a range, it becomes part of that now */
	pattern_write_page(addr, SEED, SAME);
	return addr;
}

/* Apart from each other, so that no two share an anon_vma. */
char *twin_make(unsigned int nr)
{
	return twin_make_at(TWINS + nr * PMD_SIZE);
}

void range_move(char *from, size_t pages, char *to)
{
	size_t len = pages * PAGE_SIZE;

	if (mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		die_errno("cannot move %zu pages from %p to %p", pages, from,
			  to);
}

/*
 * Clearing soft-dirty flushes the whole TLB of the process, also on kernels
 * without soft-dirty. Unlike mprotect(), it does not change the VMAs.
 */
long act_touch(char *addr, long arg __attribute__((unused)))
{
	pagemap_clear_soft_dirty();
	*(volatile char *)addr;
	return 0;
}

long act_verify(char *addr, long arg)
{
	return pattern_verify_page(addr, SEED, arg) >= 0;
}

long act_write(char *addr, long arg)
{
	pattern_write_page(addr, SEED, arg);
	return 0;
}

long act_unmergeable(char *addr, long arg)
{
	return madvise(addr, arg * PAGE_SIZE, MADV_UNMERGEABLE) ? errno : 0;
}

long act_unmap(char *addr, long arg)
{
	return munmap(addr, arg * PAGE_SIZE) ? errno : 0;
}

long act_soft_offline(char *addr, long arg __attribute__((unused)))
{
	return madvise(addr, PAGE_SIZE, MADV_SOFT_OFFLINE) ? errno : 0;
}

long act_range(char *addr __attribute__((unused)), long kind)
{
	range_make(kind);
	return 0;
}

long act_move_away(char *addr, long pages)
{
	range_move(addr, pages, AWAY);
	return 0;
}
