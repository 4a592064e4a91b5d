// SPDX-License-Identifier: GPL-2.0
/*
 * A page that is pinned by direct I/O (kernel/pin.h). A thread writes it to a
 * device together with the page behind it, whose fault waits until the pin
 * ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "ops.h"
#include "process/map.h"
#include "report/die.h"

#define DEVICE_PAGES	2u
#define WAIT_MS		500

static const char *device_path;
static struct {
	bool on;
	int device, uffd, error;
	char *missing;
	struct iovec iov[DEVICE_PAGES];
	pthread_t writer;
} pin;

void pins_open(void)
{
	device_path = swap_spare_device(DEVICE_PAGES);
}

static void *write_pinned(void *arg __attribute__((unused)))
{
	if (pwritev(pin.device, pin.iov, DEVICE_PAGES, 0) < 0)
		pin.error = errno;
	return NULL;
}

/* Whether the writer has reached the missing page. */
static bool start_writer(void)
{
	struct uffd_msg msg;

	if (pthread_create(&pin.writer, NULL, write_pinned, NULL))
		die("cannot start a thread");
	if (uffd_event(pin.uffd, &msg, WAIT_MS))
		return true;
	pthread_join(pin.writer, NULL);
	return false;
}

struct outcome_text verb_pin(struct actor *self, const struct op *op)
{
	if (pin.on)
		return outcome_fmt("EBUSY");
	pin.error = 0;
	pin.device = open(device_path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (pin.device < 0)
		die_errno("cannot open %s for direct I/O", device_path);
	pin.missing = map_anon(NULL, PAGE_SIZE);
	pin.uffd = uffd_open(0);
	uffd_register(pin.uffd, pin.missing, PAGE_SIZE,
		      UFFDIO_REGISTER_MODE_MISSING);
	pin.iov[0] = (struct iovec){ page_addr(op->to_slot, op->to_page),
				     PAGE_SIZE };
	pin.iov[1] = (struct iovec){ pin.missing, PAGE_SIZE };
	pin.on = true;
	arena->keepers |= 1u << self->id;
	if (start_writer())
		return outcome_ok();
	drop_pin();
	errno = pin.error;
	return outcome_of(false);
}

static void let_writer_end(void)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)pin.missing, PAGE_SIZE },
	};

	if (!ioctl(pin.uffd, UFFDIO_ZEROPAGE, &zero))
		pthread_join(pin.writer, NULL);
}

void drop_pin(void)
{
	if (!pin.on)
		return;
	if (!pin.error)
		let_writer_end();
	forget_pin();
	unmap(pin.missing, PAGE_SIZE);
}

/* A child does not have its parent's pin. */
void forget_pin(void)
{
	if (!pin.on)
		return;
	close(pin.uffd);
	close(pin.device);
	pin.on = false;
}
