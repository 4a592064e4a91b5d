// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/dmirror.h"
#include "proc/pagemap.h"
#include "report/die.h"

#define DEVICE		"/dev/hmm_dmirror0"
/*
 * The types of swap entries that stand for a device-exclusive page: writable and
 * read-only on 6.12, the second alone on 7.3. Migration entries are below.
 */
#define EXCLUSIVE_FIRST	29u
#define EXCLUSIVE_LAST	30u

struct command {
	__u64 addr, buffer, pages, copied, faults;
};

#define WRITE		_IOWR('H', 0x01, struct command)
#define TAKE		_IOWR('H', 0x02, struct command)
#define MAKE_EXCLUSIVE	_IOWR('H', 0x05, struct command)

static int device = -1;

bool dmirror_open(void)
{
	device = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 && errno != ENOENT)
		die_errno("cannot open " DEVICE);
	return device >= 0;
}

void dmirror_close(void)
{
	close(device);
	device = -1;
}

bool dmirror_try_make_exclusive(char *page)
{
	static char copy[MOST_PAGE_SIZE] __attribute__((aligned(MOST_PAGE_SIZE)));
	struct command command = {
		.addr = (uintptr_t)page, .buffer = (uintptr_t)copy, .pages = 1,
	};

	if (!ioctl(device, MAKE_EXCLUSIVE, &command))
		return true;
	if (errno != EBUSY)
		die_errno("the device cannot ask for the page at %p", page);
	return false;
}

static void command(unsigned long number, const char *what, void *at,
		    const void *buffer, size_t pages)
{
	struct command command = {
		.addr = (uintptr_t)at, .buffer = (uintptr_t)buffer,
		.pages = pages,
	};

	if (ioctl(device, number, &command))
		die_errno("the device cannot %s %zu pages at %p", what, pages, at);
	if (command.copied != pages)
		die("the device can %s only %llu of %zu pages", what,
		    (unsigned long long)command.copied, pages);
}

void dmirror_take(void *at, void *buffer, size_t pages)
{
	command(TAKE, "take", at, buffer, pages);
}

void dmirror_write(void *at, const void *buffer, size_t pages)
{
	command(WRITE, "write", at, buffer, pages);
}

void dmirror_make_exclusive(char *page)
{
	if (!dmirror_try_make_exclusive(page))
		die("the device cannot have the page at %p alone", page);
}

bool dmirror_is_exclusive(const char *page)
{
	struct page_state state = pagemap_page(page);

	return state.swapped && state.swap_type >= EXCLUSIVE_FIRST &&
	       state.swap_type <= EXCLUSIVE_LAST;
}
