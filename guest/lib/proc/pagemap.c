// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "report/die.h"

#define SELF_PAGEMAP	"/proc/self/pagemap"
#define CHUNK		512u	/* entries read at once: one page table's worth */

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open %s", path);
	return fd;
}

/* Read nr 64-bit words starting at word number index of a proc file. */
static void read_words(int fd, const char *path, uint64_t index, uint64_t *out,
		       size_t nr)
{
	ssize_t got = pread(fd, out, nr * sizeof(*out), index * sizeof(*out));

	if (got < 0)
		die_errno("cannot read %s at %#llx", path,
			  (unsigned long long)index);
	if ((size_t)got != nr * sizeof(*out))
		die("%s ends at %#llx", path,
		    (unsigned long long)index + got / sizeof(*out));
}

static struct page_state decode(uint64_t raw)
{
	uint64_t low = raw & PAGEMAP_FRAME;
	struct page_state state = {
		.raw = raw,
		.soft_dirty = raw & PAGEMAP_SOFT_DIRTY,
		.exclusive = raw & PAGEMAP_EXCLUSIVE,
		.uffd_wp = raw & PAGEMAP_UFFD_WP,
		.file = raw & PAGEMAP_FILE,
		.swapped = raw & PAGEMAP_SWAPPED,
		.present = raw & PAGEMAP_PRESENT,
	};

	if (state.present) {
		state.pfn = low;
	} else if (state.swapped) {
		state.swap_type = low & 0x1f;
		state.swap_offset = low >> 5;
	}
	return state;
}

static void read_states(const char *path, const void *addr, size_t pages,
			struct page_state *out)
{
	uint64_t first = (uintptr_t)addr / PAGE_SIZE;
	int fd = open_or_die(path);
	uint64_t raw[CHUNK];
	size_t done, nr, i;

	for (done = 0; done < pages; done += nr) {
		nr = pages - done < CHUNK ? pages - done : CHUNK;
		read_words(fd, path, first + done, raw, nr);
		for (i = 0; i < nr; i++)
			out[done + i] = decode(raw[i]);
	}
	close(fd);
}

void pagemap_read(const void *addr, size_t pages, struct page_state *out)
{
	read_states(SELF_PAGEMAP, addr, pages, out);
}

void pagemap_read_pid(pid_t pid, const void *addr, size_t pages,
		      struct page_state *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	read_states(pid ? path : SELF_PAGEMAP, addr, pages, out);
}

struct page_state pagemap_page(const void *addr)
{
	struct page_state state;

	pagemap_read(addr, 1, &state);
	return state;
}

static size_t count_bit(const void *addr, size_t pages, unsigned int bit)
{
	uint64_t first = (uintptr_t)addr / PAGE_SIZE;
	int fd = open_or_die(SELF_PAGEMAP);
	size_t done, nr, i, count = 0;
	uint64_t raw[CHUNK];

	for (done = 0; done < pages; done += nr) {
		nr = pages - done < CHUNK ? pages - done : CHUNK;
		read_words(fd, SELF_PAGEMAP, first + done, raw, nr);
		for (i = 0; i < nr; i++)
			count += raw[i] >> bit & 1;
	}
	close(fd);
	return count;
}

size_t pagemap_present(const void *addr, size_t pages)
{
	return count_bit(addr, pages, 63);
}

size_t pagemap_swapped(const void *addr, size_t pages)
{
	return count_bit(addr, pages, 62);
}

/*
 * A new VMA is soft-dirty as a whole, if the kernel tracks soft-dirty at all.
 */
bool pagemap_has_soft_dirty(void)
{
	char *page = map_anon(NULL, PAGE_SIZE);
	bool has;

	*(volatile char *)page = 1;
	has = pagemap_page(page).soft_dirty;
	unmap(page, PAGE_SIZE);
	return has;
}

void pagemap_clear_soft_dirty(void)
{
	write_file("/proc/self/clear_refs", "4");
}

/* Unlike a pagemap, these files are the same for every process: stay open. */
void kpage_flags_range(uint64_t pfn, size_t nr, uint64_t *out)
{
	static int fd = -1;

	if (fd < 0)
		fd = open_or_die("/proc/kpageflags");
	read_words(fd, "/proc/kpageflags", pfn, out, nr);
}

uint64_t kpage_flags(uint64_t pfn)
{
	uint64_t flags;

	kpage_flags_range(pfn, 1, &flags);
	return flags;
}

uint64_t kpage_count(uint64_t pfn)
{
	static int fd = -1;
	uint64_t count;

	if (fd < 0)
		fd = open_or_die("/proc/kpagecount");
	read_words(fd, "/proc/kpagecount", pfn, &count, 1);
	return count;
}
