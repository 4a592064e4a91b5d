// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/gup_test.h"
#include "report/die.h"

#define DEVICE		"/sys/kernel/debug/gup_test"
#define FOLL_WRITE	1u

struct command {
	__u64 get_usec, put_usec, addr, size;
	__u32 pages, gup_flags, test_flags, dump[8];
};

#define PIN_FAST	_IOWR('g', 2, struct command)
#define PIN_SLOW	_IOWR('g', 5, struct command)

bool gup_test_pin(char *addr, size_t len, bool fast)
{
	struct command command = {
		.addr = (uintptr_t)addr, .size = len, .gup_flags = FOLL_WRITE,
		.pages = (uint32_t)(len / PAGE_SIZE),
	};
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (device < 0 && errno == ENOENT)
		return false;
	if (device < 0)
		die_errno("cannot open " DEVICE);
	if (ioctl(device, fast ? PIN_FAST : PIN_SLOW, &command) ||
	    command.size != len)
		die_errno("cannot pin %zu bytes at %p", len, addr);
	close(device);
	return true;
}
