// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/uring.h"
#include "process/map.h"
#include "report/die.h"

static struct {
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

bool uring_register(char *addr, size_t len)
{
	struct iovec buffer = { addr, len };

	uring.params = (struct io_uring_params){ 0 };
	uring.fd = (int)syscall(__NR_io_uring_setup, 1, &uring.params);
	if (uring.fd < 0 && errno == ENOSYS)
		return false;
	if (uring.fd < 0)
		die_errno("io_uring_setup");
	if (!(uring.params.features & IORING_FEAT_SINGLE_MMAP))
		die("the queues of io_uring are apart");
	uring.ring = map_ring(IORING_OFF_SQ_RING);
	uring.entry = (struct io_uring_sqe *)map_ring(IORING_OFF_SQES);
	if (syscall(__NR_io_uring_register, uring.fd, IORING_REGISTER_BUFFERS,
		    &buffer, 1))
		die_errno("cannot register a buffer of %zu bytes", len);
	return true;
}

void uring_read(int fd, char *addr, size_t len)
{
	struct io_uring_cqe *done;
	uint32_t *tail = ring_word(uring.params.sq_off.tail);

	*uring.entry = (struct io_uring_sqe){
		.opcode = IORING_OP_READ_FIXED, .fd = fd,
		.addr = (uintptr_t)addr, .len = (uint32_t)len,
	};
	*ring_word(uring.params.sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, uring.fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		die_errno("io_uring_enter");
	done = (struct io_uring_cqe *)(uring.ring + uring.params.cq_off.cqes);
	if (done->res != (int32_t)len)
		die("io_uring read %d of %zu bytes", done->res, len);
}

void uring_unregister(void)
{
	if (syscall(__NR_io_uring_register, uring.fd,
		    IORING_UNREGISTER_BUFFERS, NULL, 0))
		die_errno("cannot unregister a buffer");
	unmap(uring.ring, PAGE_SIZE);
	unmap((char *)uring.entry, PAGE_SIZE);
	close(uring.fd);
}
