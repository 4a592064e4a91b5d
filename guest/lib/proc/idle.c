// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <unistd.h>

#include "proc/idle.h"
#include "report/die.h"

#define BITMAP "/sys/kernel/mm/page_idle/bitmap"

int idle_bitmap(void)
{
	int fd = open(BITMAP, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open " BITMAP);
	return fd;
}

struct idle_bit idle_open(uint64_t pfn)
{
	struct idle_bit bit = {
		.fd = idle_bitmap(),
		.pfn = pfn,
		.mask = 1ull << pfn % IDLE_BITS,
		.offset = pfn / IDLE_BITS * sizeof(uint64_t),
	};

	return bit;
}

void idle_set(const struct idle_bit *bit)
{
	if (pwrite(bit->fd, &bit->mask, sizeof(bit->mask), bit->offset) !=
	    (ssize_t)sizeof(bit->mask))
		die_errno("cannot set the idle bit of page %#llx",
			  (unsigned long long)bit->pfn);
}

bool idle_get(const struct idle_bit *bit)
{
	uint64_t word;

	if (pread(bit->fd, &word, sizeof(word), bit->offset) !=
	    (ssize_t)sizeof(word))
		die_errno("cannot read the idle bit of page %#llx",
			  (unsigned long long)bit->pfn);
	return word & bit->mask;
}
