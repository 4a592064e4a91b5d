// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/uring.h"
#include "process/map.h"
#include "report/die.h"

/*
 * One ring, until this process ends: the kernel takes a closed one apart later,
 * and interrupts a system call of this process for it.
 */
static struct {
	bool open;
	int fd;
	char *ring;
	struct io_uring_sqe *entry;
	struct io_uring_params params;
} uring;

static char *map_ring(off_t offset)
{
	return map_or_die(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  uring.fd, offset);
}

static uint32_t *ring_word(uint32_t offset)
{
	return (uint32_t *)(uring.ring + offset);
}

static bool open_ring(void)
{
	uring.fd = (int)syscall(__NR_io_uring_setup, 1, &uring.params);
	if (uring.fd < 0 && errno == ENOSYS)
		return false;
	if (uring.fd < 0)
		die_errno("io_uring_setup");
	if (!(uring.params.features & IORING_FEAT_SINGLE_MMAP))
		die("the queues of io_uring are apart");
	uring.ring = map_ring(IORING_OFF_SQ_RING);
	uring.entry = (struct io_uring_sqe *)map_ring(IORING_OFF_SQES);
	uring.open = true;
	return true;
}

bool uring_register(char *addr, size_t len)
{
	struct iovec buffer = { addr, len };

	if (!uring.open && !open_ring())
		return false;
	if (syscall(__NR_io_uring_register, uring.fd, IORING_REGISTER_BUFFERS,
		    &buffer, 1))
		die_errno("cannot register a buffer of %zu bytes", len);
	return true;
}

void uring_read(int fd, char *addr, size_t len)
{
	struct io_uring_cqe *done;
	uint32_t *tail = ring_word(uring.params.sq_off.tail);
	uint32_t *head = ring_word(uring.params.cq_off.head);
	uint32_t mask = *ring_word(uring.params.cq_off.ring_mask);

	*uring.entry = (struct io_uring_sqe){
		.opcode = IORING_OP_READ_FIXED, .fd = fd,
		.addr = (uintptr_t)addr, .len = (uint32_t)len,
	};
	*ring_word(uring.params.sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, uring.fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		die_errno("io_uring_enter");
	done = (struct io_uring_cqe *)(uring.ring + uring.params.cq_off.cqes) +
	       (*head & mask);
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	if (done->res != (int32_t)len)
		die("io_uring read %d of %zu bytes", done->res, len);
}

void uring_unregister(void)
{
	if (syscall(__NR_io_uring_register, uring.fd,
		    IORING_UNREGISTER_BUFFERS, NULL, 0))
		die_errno("cannot unregister a buffer");
}
