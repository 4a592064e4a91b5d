// SPDX-License-Identifier: GPL-2.0
/*
 * UFFDIO_MOVE, as a program calls it: again behind what has moved, until all has
 * or a page stays.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/uapi.h"
#include "kernel/uffd.h"
#include "ops.h"
#include "report/die.h"

/* Virtual time; a call takes less than one. */
#define LIMIT_MS	40u
#define STACK_SIZE	(4 * PAGE_SIZE)

/* How the target is registered, and whether holes of the source are allowed. */
static const struct kind {
	const char *word;
	uint64_t registered, mode;
	bool stays;	/* registered; else what was taken could not be accessed */
} kinds[] = {
	{ "all", UFFDIO_REGISTER_MODE_MISSING, 0, false },
	{ "holes", UFFDIO_REGISTER_MODE_MISSING,
	  UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES, false },
	{ "to-wp", UFFDIO_REGISTER_MODE_WP, 0, true },
	{ "to-rwp", UFFDIO_REGISTER_MODE_RWP, 0, true },
};

struct take {
	int uffd;
	struct uffd_moves left;
	int error;	/* why that does not move */
	bool over;
};

static int take_apart(void *arg)
{
	struct take *take = arg;

	take->error = uffd_move_on(take->uffd, &take->left);
	__atomic_store_n(&take->over, true, __ATOMIC_RELEASE);
	return 0;
}

/*
 * The same in a process of its own, which can be killed: before 7.3, the kernel
 * tries to split a large folio that is held for as long as it is. The call tells
 * how far it came then, too. SIGCHLD is ignored: wait() returns when it is gone.
 */
static bool take_with_limit(struct take *take)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	unsigned int ms;
	pid_t pid;

	if (stack == MAP_FAILED)
		die_errno("no memory for a stack");
	pid = clone(take_apart, stack + STACK_SIZE,
		    CLONE_VM | CLONE_FILES | SIGCHLD, take);
	if (pid < 0)
		die_errno("cannot clone");
	for (ms = 0; ms < LIMIT_MS; ms++) {
		if (__atomic_load_n(&take->over, __ATOMIC_ACQUIRE))
			break;
		sleep_ms(1);
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(stack, STACK_SIZE);
	if (!take->over && take->left.call.move > 0)
		take->left.call.len -= take->left.call.move;
	return take->over;
}

static struct outcome_text outcome_taken(const struct op *op,
					 const struct take *take, bool over)
{
	size_t left = (take->left.call.len + take->left.rest) / PAGE_SIZE;
	const char *name = over ? strerrorname_np(take->error) : "endless";

	if (!left)
		return outcome_ok();
	if (left == op->count)
		return outcome_fmt("%s", name ? name : "?");
	return outcome_fmt("%s after=%zu", name ? name : "?", op->count - left);
}

/* Where it overlaps the source, both are in one mapping, and stay in one. */
static struct uffdio_range registered(const struct op *op)
{
	uint64_t to = (uintptr_t)page_addr(op->to_slot, op->to_page);
	uint64_t from = (uintptr_t)op_range(op), len = op_length(op);
	uint64_t first = to < from ? to : from, last = to < from ? from : to;

	if (last - first < len)
		return (struct uffdio_range){ first, last - first + len };
	return (struct uffdio_range){ to, len };
}

static struct outcome_text take_to(struct actor *self, const struct op *op,
				   const struct kind *kind)
{
	struct uffdio_register reg = {
		.range = registered(op), .mode = kind->registered,
	};
	struct take take = {
		.uffd = self->uffd,
		.left.call = {
			.dst = (uintptr_t)page_addr(op->to_slot, op->to_page),
			.src = (uintptr_t)op_range(op),
			.len = op_length(op), .mode = kind->mode,
		},
	};
	bool over = true;

	if (ioctl(self->uffd, UFFDIO_REGISTER, &reg))
		return outcome_of(false);
	if (arena->keepers)
		over = take_with_limit(&take);
	else
		take.error = uffd_move_on(take.uffd, &take.left);
	if (!kind->stays && ioctl(self->uffd, UFFDIO_UNREGISTER, &reg.range))
		return outcome_fmt("stays-registered");
	return outcome_taken(op, &take, over);
}

struct outcome_text verb_take(struct actor *self, const struct op *op)
{
	size_t i;

	uffd_need(self);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].word, op->word))
			return take_to(self, op, &kinds[i]);
	}
	die_usage("nothing is taken \"%s\"", op->word);
}
