// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/mman.h>

#include "aging.h"
#include "arch/arch.h"
#include "proc/knob.h"
#include "process/map.h"

/* More pages than are flushed one by one. */
#define MANY	128

/* The TLB keeps nothing of a process that unmaps many pages. */
static void flush_all(void)
{
	char *at = map_anon(NULL, MANY * PAGE_SIZE);

	memset(at, 1, MANY * PAGE_SIZE);
	unmap(at, MANY * PAGE_SIZE);
}

void flush_range(char *at, size_t pages)
{
	if (ARCH_PROTECT_ACCESSES) {
		flush_all();
		return;
	}
	range_protect(at, pages, PROT_READ);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
}

void age_range(char *at, size_t pages)
{
	write_file("/proc/self/clear_refs", "1");
	flush_range(at, pages);
}

void access_pages(const char *at, size_t pages, unsigned long kib,
		  const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			*(volatile const char *)(at + n * PAGE_SIZE);
	}
}
