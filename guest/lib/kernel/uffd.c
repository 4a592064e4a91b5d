// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "base/uapi.h"
#include "kernel/uffd.h"
#include "report/expectation.h"

/* How often a call may move nothing and ask to try again. */
#define MOVE_TRIES	8u

static struct uffdio_range range_of(const void *addr, size_t len)
{
	return (struct uffdio_range){ .start = (uintptr_t)addr, .len = len };
}

static int uffd_new(void)
{
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd < 0)
		die_errno("cannot open a userfaultfd");
	return uffd;
}

int uffd_try(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int uffd = uffd_new();

	if (!ioctl(uffd, UFFDIO_API, &api))
		return uffd;
	if (errno != EINVAL)
		die_errno("userfaultfd refuses features %#llx",
			  (unsigned long long)features);
	close(uffd);
	return -1;
}

int uffd_open(uint64_t features)
{
	int uffd = uffd_try(features);

	if (uffd < 0)
		SKIP("userfaultfd refuses features %#llx",
		     (unsigned long long)features);
	return uffd;
}

int uffd_open_or_skip(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API };
	int uffd = uffd_new();

	if (ioctl(uffd, UFFDIO_API, &api))
		die_errno("userfaultfd does not tell its features");
	close(uffd);
	if (features & ~api.features)
		SKIP("userfaultfd lacks features %#llx",
		     (unsigned long long)(features & ~api.features));
	return uffd_open(features);
}

void uffd_register(int uffd, void *addr, size_t len, uint64_t mode)
{
	struct uffdio_register reg = {
		.range = range_of(addr, len),
		.mode = mode,
	};

	if (ioctl(uffd, UFFDIO_REGISTER, &reg))
		die_errno("cannot register %zu KiB at %p for userfaultfd",
			  len / KIB, addr);
}

void uffd_register_wp(int uffd, void *addr, size_t len)
{
	uffd_register(uffd, addr, len, UFFDIO_REGISTER_MODE_WP);
}

void uffd_unregister(int uffd, void *addr, size_t len)
{
	struct uffdio_range range = range_of(addr, len);

	if (ioctl(uffd, UFFDIO_UNREGISTER, &range))
		die_errno("cannot unregister %zu KiB at %p from userfaultfd",
			  len / KIB, addr);
}

void uffd_rwprotect(int uffd, void *addr, size_t len, bool protect)
{
	struct uffdio_writeprotect rwp = {
		.range = range_of(addr, len),
		.mode = protect ? UFFDIO_RWPROTECT_MODE_RWP : 0,
	};

	if (ioctl(uffd, UFFDIO_RWPROTECT, &rwp))
		die_errno("cannot change protection of %zu KiB at %p",
			  len / KIB, addr);
}

void uffd_writeprotect(int uffd, void *addr, size_t len, bool protect)
{
	struct uffdio_writeprotect wp = {
		.range = range_of(addr, len),
		.mode = protect ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	if (ioctl(uffd, UFFDIO_WRITEPROTECT, &wp))
		die_errno("cannot change write protection of %zu KiB at %p",
			  len / KIB, addr);
}

long uffd_move(int uffd, void *to, const void *from, size_t len)
{
	struct uffdio_move move = {
		.dst = (uintptr_t)to,
		.src = (uintptr_t)from,
		.len = len,
	};

	/* A partial move ends with EAGAIN, and tells how far it went. */
	if (ioctl(uffd, UFFDIO_MOVE, &move) && !move.move)
		die_errno("cannot move %zu KiB at %p", len / KIB, from);
	return move.move;
}

/* Goes on with all that is left. */
static void move_next(struct uffd_moves *moves)
{
	struct uffdio_move *call = &moves->call;

	call->src += call->move;
	call->dst += call->move;
	call->len += moves->rest - call->move;
	moves->rest = 0;
}

static void move_less(struct uffd_moves *moves)
{
	size_t half = moves->call.len / PAGE_SIZE / 2 * PAGE_SIZE;

	moves->rest += moves->call.len - half;
	moves->call.len = half;
}

int uffd_move_on(int uffd, struct uffd_moves *moves)
{
	struct uffdio_move *call = &moves->call;
	unsigned int tries = 0;
	int error;

	while (call->len) {
		call->move = 0;
		error = ioctl(uffd, UFFDIO_MOVE, call) ? errno : 0;
		if (call->move > 0)
			move_next(moves);
		else if (error == EINVAL && call->len > PAGE_SIZE)
			move_less(moves);
		else if (error != EAGAIN || ++tries == MOVE_TRIES)
			return error;
	}
	return 0;
}

bool uffd_event(int uffd, struct uffd_msg *msg, int timeout_ms)
{
	struct pollfd pfd = { .fd = uffd, .events = POLLIN };

	if (poll(&pfd, 1, timeout_ms) < 0)
		die_errno("cannot poll a userfaultfd");
	return read(uffd, msg, sizeof(*msg)) == (ssize_t)sizeof(*msg);
}
