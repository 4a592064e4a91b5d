// SPDX-License-Identifier: GPL-2.0
/* userfaultfd: moves that are reported, and both kinds of protection. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/uapi.h"
#include "ops.h"

int uffd_with(struct uffdio_api *api)
{
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd >= 0 && ioctl(uffd, UFFDIO_API, api)) {
		close(uffd);
		return -1;
	}
	return uffd;
}

/* RWP, if the kernel has it: since 7.3. */
static uint64_t rwp_feature(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int uffd = uffd_with(&api);

	if (uffd >= 0)
		close(uffd);
	return api.features & UFFD_FEATURE_RWP;
}

/*
 * Faults by protection raise SIGBUS; no thread answers them. Where moves are
 * reported, a thread lets each continue.
 */
static int open_uffd(uint64_t more)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP | rwp_feature() |
			    more,
	};

	return uffd_with(&api);
}

/* An architecture may have no protection: then it only moves pages. */
void uffd_need(struct actor *self)
{
	struct uffdio_api api = {
		.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS,
	};

	if (self->uffd < 0)
		self->uffd = open_uffd(0);
	if (self->uffd < 0)
		self->uffd = uffd_with(&api);
}

static void *pass_events(void *arg)
{
	struct pollfd poll_fd = { .fd = *(int *)arg, .events = POLLIN };
	struct uffd_msg msg;

	while (poll(&poll_fd, 1, -1) >= 0)
		while (read(poll_fd.fd, &msg, sizeof(msg)) == sizeof(msg))
			;
	return NULL;
}

struct outcome_text verb_watch(struct actor *self,
			       const struct op *op __attribute__((unused)))
{
	pthread_t thread;

	if (self->uffd >= 0)
		return outcome_fmt("EEXIST");
	self->uffd = open_uffd(UFFD_FEATURE_EVENT_REMAP);
	if (self->uffd < 0)
		return outcome_of(false);
	if (pthread_create(&thread, NULL, pass_events, &self->uffd))
		return outcome_fmt("no-thread");
	pthread_detach(thread);
	return outcome_ok();
}

static struct uffdio_range range_of(const struct op *op)
{
	return (struct uffdio_range){
		.start = (uintptr_t)op_range(op), .len = op_length(op),
	};
}

struct outcome_text verb_wp(struct actor *self, const struct op *op)
{
	struct uffdio_register reg = {
		.range = range_of(op),
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = reg.range,
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	uffd_need(self);
	if (ioctl(self->uffd, UFFDIO_REGISTER, &reg))
		return outcome_of(false);
	return outcome_of(!ioctl(self->uffd, UFFDIO_WRITEPROTECT, &wp));
}

struct outcome_text verb_unwp(struct actor *self, const struct op *op)
{
	struct uffdio_writeprotect wp = {
		.range = range_of(op),
	};

	return outcome_of(!ioctl(self->uffd, UFFDIO_WRITEPROTECT, &wp));
}

/* The kernel before 7.3 has no such mode: EINVAL. */
struct outcome_text verb_rwp(struct actor *self, const struct op *op)
{
	struct uffdio_register reg = {
		.range = range_of(op),
		.mode = UFFDIO_REGISTER_MODE_RWP,
	};
	struct uffdio_writeprotect rwp = {
		.range = reg.range,
		.mode = UFFDIO_RWPROTECT_MODE_RWP,
	};

	uffd_need(self);
	if (ioctl(self->uffd, UFFDIO_REGISTER, &reg))
		return outcome_of(false);
	return outcome_of(!ioctl(self->uffd, UFFDIO_RWPROTECT, &rwp));
}

struct outcome_text verb_unrwp(struct actor *self, const struct op *op)
{
	struct uffdio_writeprotect rwp = {
		.range = range_of(op),
	};

	return outcome_of(!ioctl(self->uffd, UFFDIO_RWPROTECT, &rwp));
}

struct outcome_text verb_unwatch(struct actor *self, const struct op *op)
{
	struct uffdio_range where = range_of(op);
	struct outcome_text outcome =
		outcome_of(!ioctl(self->uffd, UFFDIO_UNREGISTER, &where));

	/* The range may be one that `scan` has registered. */
	if (!ioctl(self->tracker, UFFDIO_UNREGISTER, &where))
		return outcome_ok();
	return outcome;
}
