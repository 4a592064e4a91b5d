// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <unistd.h>

#include "proc.h"
#include "swap.h"
#include "util.h"

#define ZRAM_SYSFS	"/sys/block/zram0"
#define ZRAM_DEVICE	"/dev/zram0"

/*
 * The first page of a swap area, version 1: after 1024 bytes for a boot block,
 * version, last page and number of bad pages; at its end the signature
 * (union swap_header in include/linux/swap.h).
 */
struct swap_header {
	char boot[1024];
	uint32_t version;
	uint32_t last_page;
	uint32_t nr_badpages;
	char rest[PAGE_SIZE - 1024 - 3 * sizeof(uint32_t) - 10];
	char magic[10];
} __attribute__((packed));

_Static_assert(sizeof(struct swap_header) == PAGE_SIZE, "one page");

static void format_swap(unsigned long pages)
{
	static struct swap_header header;
	int fd = open(ZRAM_DEVICE, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open " ZRAM_DEVICE);
	header.version = 1;
	header.last_page = pages - 1;
	memcpy(header.magic, "SWAPSPACE2", sizeof(header.magic));
	if (write(fd, &header, sizeof(header)) != (ssize_t)sizeof(header))
		die_errno("cannot write the swap header of " ZRAM_DEVICE);
	if (fsync(fd) || close(fd))
		die_errno("cannot flush " ZRAM_DEVICE);
}

void swap_on(unsigned long mib)
{
	write_file(ZRAM_SYSFS "/disksize", "%luM", mib);
	format_swap(mib * MIB / PAGE_SIZE);
	if (swapon(ZRAM_DEVICE, 0))
		die_errno("cannot swap on " ZRAM_DEVICE);
}

void swap_off(void)
{
	if (swapoff(ZRAM_DEVICE))
		die_errno("cannot stop swapping on " ZRAM_DEVICE);
	write_file(ZRAM_SYSFS "/reset", "1");
}

void swap_reset(void)
{
	swapoff(ZRAM_DEVICE);
	try_write_file(ZRAM_SYSFS "/reset", "1");
}

unsigned long swap_used_kib(void)
{
	return meminfo_kib("SwapTotal") - meminfo_kib("SwapFree");
}

void page_out(void *addr, size_t len)
{
	if (madvise(addr, len, MADV_PAGEOUT))
		die_errno("MADV_PAGEOUT of %zu KiB at %p", len / KIB, addr);
}
