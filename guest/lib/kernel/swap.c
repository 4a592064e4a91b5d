// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "kernel/nullb.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"

#define ZRAM_SYSFS	"/sys/block/zram0"
#define ZRAM_DEVICE	"/dev/zram0"
#define BLOCK_NAME	"swap"
#define BLOCK_DEVICE	"/dev/" BLOCK_NAME
#define SPARE_SYSFS	"/sys/block/zram1"
#define OFF_MS		5000u	/* far longer than swapoff needs */

/*
 * The first page of a swap area, version 1: 1024 bytes for a boot block, then
 * version, last page and number of bad pages; at the page's end the signature
 * (union swap_header in include/linux/swap.h).
 */
union swap_header {
	struct {
		char boot[1024];
		uint32_t version;
		uint32_t last_page;
		uint32_t nr_badpages;
	};
	char page[MOST_PAGE_SIZE];
};

#define MAGIC	"SWAPSPACE2"

static void format_swap(const char *device, unsigned long pages)
{
	static union swap_header header;
	int fd = open(device, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open %s", device);
	header.version = 1;
	header.last_page = pages - 1;
	memcpy(header.page + PAGE_SIZE - strlen(MAGIC), MAGIC, strlen(MAGIC));
	if (write(fd, &header, PAGE_SIZE) != (ssize_t)PAGE_SIZE)
		die_errno("cannot write the swap header of %s", device);
	if (fsync(fd) || close(fd))
		die_errno("cannot flush %s", device);
}

static const char *format_and_enable(const char *device, unsigned long mib)
{
	format_swap(device, mib * MIB / PAGE_SIZE);
	if (swapon(device, 0))
		die_errno("cannot swap on %s", device);
	return device;
}

const char *swap_on(unsigned long mib)
{
	write_file(ZRAM_SYSFS "/disksize", "%luM", mib);
	return format_and_enable(ZRAM_DEVICE, mib);
}

const char *swap_on_block(unsigned long mib)
{
	const struct nullb device = { .name = BLOCK_NAME, .mib = mib };

	nullb_create(&device);
	nullb_fill(&device);
	return format_and_enable(BLOCK_DEVICE, mib);
}

const char *swap_on_block_slow(unsigned long mib, unsigned long ms)
{
	const struct nullb device = {
		.name = BLOCK_NAME,
		.mib = mib,
		.delay_ms = ms,
	};

	nullb_create(&device);
	return format_and_enable(BLOCK_DEVICE, mib);
}

static void on_alarm(int sig __attribute__((unused)))
{
}

/*
 * swapoff searches for the users of each slot until none is left. If a
 * reference to a slot leaks, it searches forever. A signal ends it.
 */
static bool off_within(const char *device, unsigned int ms)
{
	const struct itimerval end = {
		.it_value = { ms / 1000, ms % 1000 * 1000 + 1 },
		.it_interval = { 0, 100000 },
	};
	const struct itimerval none = { .it_value = { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm }, old;
	int err;

	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &end, NULL);
	err = swapoff(device) ? errno : 0;
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &old, NULL);
	errno = err;
	return !err;
}

void swap_off(void)
{
	if (!off_within(ZRAM_DEVICE, OFF_MS))
		die_errno("cannot stop swapping on " ZRAM_DEVICE);
	write_file(ZRAM_SYSFS "/reset", "1");
}

void swap_reset(void)
{
	if (!off_within(ZRAM_DEVICE, OFF_MS) && errno == EINTR)
		diag("swapoff does not end: lost references to slots");
	try_write_file(ZRAM_SYSFS "/reset", "1");
	if (off_within(BLOCK_DEVICE, OFF_MS))
		nullb_remove(BLOCK_NAME);
	else if (errno == EINTR)
		diag("swapoff does not end: lost references to slots");
}

const char *swap_spare_device(unsigned long pages)
{
	if (access(SPARE_SYSFS, F_OK))
		read_number("/sys/class/zram-control/hot_add");
	write_file(SPARE_SYSFS "/reset", "1");
	write_file(SPARE_SYSFS "/disksize", "%lu", pages * PAGE_SIZE);
	return "/dev/zram1";
}

int swap_open_spare(unsigned long pages)
{
	int fd = open(swap_spare_device(pages), O_RDWR | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		die_errno("cannot open the spare device for direct I/O");
	return fd;
}

int swap_open_spare_filled(unsigned long pages, uint64_t seed)
{
	size_t len = pages * PAGE_SIZE;
	char *buffer = map_anon(NULL, len);
	int fd = swap_open_spare(pages);

	pattern_write(buffer, len, seed);
	if (pwrite(fd, buffer, len, 0) != (ssize_t)len)
		die_errno("cannot fill the spare device");
	unmap(buffer, len);
	return fd;
}

size_t swap_count_max(void)
{
	struct utsname name;

	if (uname(&name))
		die_errno("uname");
	return strtoul(name.release, NULL, 10) < 7 ? 62 : 14;
}

/* swapoff() of any device returns the CPUs' cached slots of all devices. */
void swap_settle(void)
{
	const char *device = swap_spare_device(16);

	format_swap(device, 16);
	if (swapon(device, 0) || swapoff(device))
		die_errno("cannot start and stop swapping on %s", device);
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

void swap_out(char *addr, size_t pages)
{
	page_out(addr, pages * PAGE_SIZE);
	if (pagemap_swapped(addr, pages) != pages)
		die("only %zu of %zu pages at %p went to swap",
		    pagemap_swapped(addr, pages), pages, addr);
}
