// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>

#include "aging.h"
#include "proc/knob.h"

void flush_range(char *at, size_t pages)
{
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
