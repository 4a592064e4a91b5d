// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/pin.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "memory/range.h"
#include "process/map.h"
#include "report/die.h"
#include "report/expectation.h"

#define WAIT_MS 2000

struct pin {
	bool write;	/* to the pages */
	int device, uffd;
	char *missing;
	pthread_t thread;
	ssize_t moved;
	unsigned int pages;
	struct iovec iov[PIN_MAX + 1];
};

static void *transfer(void *arg)
{
	struct pin *pin = arg;

	pin->moved = pin->write ?
		preadv(pin->device, pin->iov, pin->pages + 1, 0) :
		pwritev(pin->device, pin->iov, pin->pages + 1, 0);
	if (pin->moved < 0)
		pin->moved = -errno;
	return NULL;
}

static void start(struct pin *pin)
{
	struct uffd_msg msg;

	pin->device = pin->write ?
		swap_open_spare_filled(PIN_MAX + 1, PIN_SEED) :
		swap_open_spare(PIN_MAX + 1);
	pin->missing = map_anon(NULL, PAGE_SIZE);
	pin->uffd = uffd_open(0);
	uffd_register(pin->uffd, pin->missing, PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING);
	pin->iov[pin->pages].iov_base = pin->missing;
	pin->iov[pin->pages].iov_len = PAGE_SIZE;
	if (pthread_create(&pin->thread, NULL, transfer, pin))
		die("cannot start a thread");
	/*
	 * Pages are pinned in order. When the last one faults, the others are
	 * pinned.
	 */
	if (!uffd_event(pin->uffd, &msg, WAIT_MS) ||
	    msg.event != UFFD_EVENT_PAGEFAULT)
		die("the I/O of pinned pages does not wait for its last page");
}

static struct pin *pin_for(bool write, char *addr, size_t pages,
			   unsigned long kib, size_t index)
{
	struct pin *pin = allocate(1, sizeof(*pin));
	size_t n;

	pin->write = write;
	for (n = 0; n < pages && pin->pages < PIN_MAX; n += folio_pages(kib)) {
		pin->iov[pin->pages].iov_base = page_at(addr, n + index);
		pin->iov[pin->pages++].iov_len = PAGE_SIZE;
	}
	start(pin);
	return pin;
}

struct pin *pin_folios(char *addr, size_t pages, unsigned long kib,
		       size_t index)
{
	return pin_for(false, addr, pages, kib, index);
}

struct pin *pin_folios_written(char *addr, size_t pages, unsigned long kib,
			       size_t index)
{
	return pin_for(true, addr, pages, kib, index);
}

unsigned int pin_count(const struct pin *pin)
{
	return pin->pages;
}

static void expect_moved(struct pin *pin)
{
	static char copy[MOST_PAGE_SIZE] __attribute__((aligned(MOST_PAGE_SIZE)));
	unsigned int i;

	EXPECT_EQ(pin->moved, (pin->pages + 1) * PAGE_SIZE);
	for (i = 0; i < pin->pages; i++) {
		if (pread(pin->device, copy, PAGE_SIZE, i * PAGE_SIZE) !=
		    (ssize_t)PAGE_SIZE)
			die_errno("cannot read back what was written");
		EXPECT(!memcmp(copy, pin->iov[i].iov_base, PAGE_SIZE),
		       "the page at %p is no longer the one that was pinned",
		       pin->iov[i].iov_base);
	}
}

void pin_end(struct pin *pin)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)pin->missing, PAGE_SIZE },
	};

	if (ioctl(pin->uffd, UFFDIO_ZEROPAGE, &zero))
		die_errno("cannot give the page that the I/O waits for");
	if (pthread_join(pin->thread, NULL))
		die("cannot join a thread");
	expect_moved(pin);
	close(pin->uffd);
	close(pin->device);
	unmap(pin->missing, PAGE_SIZE);
	free(pin);
}
