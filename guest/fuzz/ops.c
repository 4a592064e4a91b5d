// SPDX-License-Identifier: GPL-2.0
/* What an actor can do: one function a verb. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "kernel/env.h"
#include "memory/probe.h"
#include "ops.h"
#include "proc/idle.h"
#include "proc/pagemap.h"
#include "report/die.h"

#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

struct outcome_text outcome_of(bool ok)
{
	const char *name;

	if (ok)
		return outcome_ok();
	name = strerrorname_np(errno);
	return outcome_fmt("%s", name ? name : "?");
}

static char *range(const struct op *op)
{
	return page_addr(op->slot, op->page);
}

static size_t length(const struct op *op)
{
	return op->count * PAGE_SIZE;
}

static struct outcome_text do_map(struct actor *self __attribute__((unused)),
				  const struct op *op)
{
	static const struct {
		const char *word;
		int flags;
		off_t offset;	/* in the file, of page 0 */
	} kinds[] = {
		{ "anon", MAP_PRIVATE | MAP_ANONYMOUS, 0 },
		{ "shared", MAP_SHARED | MAP_ANONYMOUS, 0 },
		{ "file", MAP_PRIVATE, 0 },
		{ "shfile", MAP_SHARED, 0 },
		{ "far", MAP_PRIVATE, FAR_OFFSET },
		{ "droppable", MAP_DROPPABLE | MAP_ANONYMOUS, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool file = !(kinds[i].flags & MAP_ANONYMOUS);
		off_t offset = kinds[i].offset + op->page * PAGE_SIZE;

		if (strcmp(kinds[i].word, op->word))
			continue;
		return outcome_of(mmap(range(op), length(op),
				       PROT_READ | PROT_WRITE,
				       kinds[i].flags | MAP_FIXED,
				       file ? program_file : -1,
				       file ? offset : 0) != MAP_FAILED);
	}
	die_usage("there is no mapping \"%s\"", op->word);
}

static struct outcome_text do_unmap(struct actor *self __attribute__((unused)),
				    const struct op *op)
{
	return outcome_of(!munmap(range(op), length(op)));
}

/* How many accesses went well, and how many raised which signal. */
struct tally {
	unsigned int ok, segv, bus;
};

static void count(struct tally *tally, int sig)
{
	tally->ok += !sig;
	tally->segv += sig == SIGSEGV;
	tally->bus += sig == SIGBUS;
}

static struct outcome_text outcome_tally(const struct tally *tally)
{
	return outcome_fmt("ok=%u segv=%u bus=%u", tally->ok, tally->segv,
			   tally->bus);
}

static struct outcome_text do_write(struct actor *self __attribute__((unused)),
				    const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;

	for (i = 0; i < op->count; i++)
		count(&tally, content_write(op->slot, op->page + i,
					    op->index));
	return outcome_tally(&tally);
}

static struct outcome_text do_same(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;

	for (i = 0; i < op->count; i++)
		count(&tally, content_write_same(range(op) + i * PAGE_SIZE,
						 op->number));
	return outcome_tally(&tally);
}

static struct outcome_text do_word(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;

	for (i = 0; i < op->count; i++)
		count(&tally, content_write_word(op->slot, op->page + i,
						 op->index, op->number));
	return outcome_tally(&tally);
}

static struct outcome_text do_read(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	struct tally tally = { 0 };
	unsigned int i;
	uint64_t word;

	for (i = 0; i < op->count; i++)
		count(&tally, probe_read(range(op) + i * PAGE_SIZE, &word));
	return outcome_tally(&tally);
}

static struct outcome_text do_exit(struct actor *self __attribute__((unused)),
				   const struct op *op __attribute__((unused)))
{
	end_crowd();
	_exit(0);
}

static struct outcome_text do_protect(struct actor *self __attribute__((unused)),
				      const struct op *op)
{
	int prot = !strcmp(op->word, "rw") ? PROT_READ | PROT_WRITE :
		   !strcmp(op->word, "r") ? PROT_READ : PROT_NONE;

	return outcome_of(!mprotect(range(op), length(op), prot));
}

static struct outcome_text do_move(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED;

	if (!strcmp(op->word, "keep"))
		flags |= MREMAP_DONTUNMAP;
	return outcome_of(mremap(range(op), length(op), length(op), flags,
				 page_addr(op->to_slot, op->to_page)) !=
			  MAP_FAILED);
}

static struct outcome_text do_resize(struct actor *self __attribute__((unused)),
				     const struct op *op)
{
	return outcome_of(mremap(range(op), length(op), op->number * PAGE_SIZE,
				 0) != MAP_FAILED);
}

static struct outcome_text do_advise(struct actor *self __attribute__((unused)),
				     const struct op *op)
{
	static const struct {
		const char *word;
		int advice;
	} advices[] = {
		{ "free", MADV_FREE },
		{ "pageout", MADV_PAGEOUT },
		{ "cold", MADV_COLD },
		{ "dontneed", MADV_DONTNEED },
		{ "willneed", MADV_WILLNEED },
		{ "remove", MADV_REMOVE },
		{ "dontfork", MADV_DONTFORK },
		{ "dofork", MADV_DOFORK },
		{ "wipeonfork", MADV_WIPEONFORK },
		{ "keeponfork", MADV_KEEPONFORK },
		{ "mergeable", MADV_MERGEABLE },
		{ "unmergeable", MADV_UNMERGEABLE },
		{ "hugepage", MADV_HUGEPAGE },
		{ "nohugepage", MADV_NOHUGEPAGE },
		{ "collapse", MADV_COLLAPSE },
		{ "populate-read", MADV_POPULATE_READ },
		{ "populate-write", MADV_POPULATE_WRITE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(advices); i++) {
		if (!strcmp(advices[i].word, op->word))
			return outcome_of(!madvise(range(op), length(op),
						   advices[i].advice));
	}
	die_usage("there is no advice \"%s\"", op->word);
}

/*
 * Faults of write protection come as SIGBUS, without anybody to answer them.
 * Where moves are watched, a thread lets each pass.
 */
static int open_uffd(uint64_t more)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP | more,
	};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd >= 0 && ioctl(uffd, UFFDIO_API, &api)) {
		close(uffd);
		return -1;
	}
	return uffd;
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

static struct outcome_text do_watch(struct actor *self,
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

static struct outcome_text do_wp(struct actor *self, const struct op *op)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)range(op), .len = length(op) },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = reg.range,
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (self->uffd < 0)
		self->uffd = open_uffd(0);
	if (ioctl(self->uffd, UFFDIO_REGISTER, &reg))
		return outcome_of(false);
	return outcome_of(!ioctl(self->uffd, UFFDIO_WRITEPROTECT, &wp));
}

static struct outcome_text do_unwp(struct actor *self, const struct op *op)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)range(op), .len = length(op) },
	};

	return outcome_of(!ioctl(self->uffd, UFFDIO_WRITEPROTECT, &wp));
}

static struct outcome_text do_unwatch(struct actor *self, const struct op *op)
{
	struct uffdio_range where = {
		.start = (uintptr_t)range(op), .len = length(op),
	};

	return outcome_of(!ioctl(self->uffd, UFFDIO_UNREGISTER, &where));
}

static struct outcome_text do_clear_refs(struct actor *self
						__attribute__((unused)),
					 const struct op *op)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", op->number);
	return outcome_of(try_write_file("/proc/self/clear_refs", text));
}

static struct outcome_text do_lock(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	return outcome_of(!mlock(range(op), length(op)));
}

static struct outcome_text do_unlock(struct actor *self __attribute__((unused)),
				     const struct op *op)
{
	return outcome_of(!munlock(range(op), length(op)));
}

static struct outcome_text do_hold(struct actor *self, const struct op *op)
{
	struct iovec page = {
		.iov_base = page_addr(op->to_slot, op->to_page),
		.iov_len = PAGE_SIZE,
	};

	if (!self->holding)
		self->hold = hold_start();
	self->holding = true;
	return outcome_of(vmsplice(self->hold.in, &page, 1,
				   SPLICE_F_NONBLOCK) == (ssize_t)PAGE_SIZE);
}

void drop_holds(struct actor *self)
{
	if (self->holding)
		hold_end(&self->hold);
	self->holding = false;
}

static struct outcome_text do_drop(struct actor *self,
				   const struct op *op __attribute__((unused)))
{
	drop_holds(self);
	drop_pin();
	return outcome_ok();
}

static struct outcome_text do_split(struct actor *self __attribute__((unused)),
				    const struct op *op)
{
	char text[80];

	snprintf(text, sizeof(text), "%d,0x%lx,0x%lx", (int)getpid(),
		 (unsigned long)range(op), (unsigned long)range(op) +
		 length(op));
	return outcome_of(try_write_file("/sys/kernel/debug/split_huge_pages",
					 text));
}

/* Mark the pages idle, or count those that still are: rmap walks, both. */
static struct outcome_text for_each_idle(const struct op *op, bool set)
{
	struct page_state state[SLOT_PAGES];
	unsigned int i, idle = 0;

	env_drain_lru();
	pagemap_read(range(op), op->count, state);
	for (i = 0; i < op->count; i++) {
		struct idle_bit bit;

		if (!state[i].present)
			continue;
		bit = idle_open(state[i].pfn);
		if (set)
			idle_set(&bit);
		else
			idle += idle_get(&bit);
		close(bit.fd);
	}
	return set ? outcome_ok() : outcome_fmt("idle=%u", idle);
}

static struct outcome_text do_idle(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	return for_each_idle(op, true);
}

static struct outcome_text do_look(struct actor *self __attribute__((unused)),
				   const struct op *op)
{
	return for_each_idle(op, false);
}

static struct outcome_text do_warm(struct actor *self,
				   const struct op *op __attribute__((unused)))
{
	self->warm = true;
	return outcome_ok();
}

static struct outcome_text do_fail(struct actor *self, const struct op *op)
{
	self->fail_nth = op->number;
	return outcome_of(!access("/proc/self/fail-nth", W_OK));
}

const struct verb actor_verbs[] = {
	{ "map", "Rw", .act = do_map },
	{ "unmap", "R", .act = do_unmap },
	{ "write", "R", .act = do_write },
	{ "same", "Rn", .act = do_same },
	{ "word", "Rn", .act = do_word },
	{ "read", "R", .act = do_read },
	{ "fork", "n", .act = do_fork },
	{ "exit", "", .act = do_exit },
	{ "protect", "Rw", .act = do_protect },
	{ "move", "RAw", .act = do_move },
	{ "resize", "Rn", .act = do_resize },
	{ "advise", "Rw", .act = do_advise },
	{ "watch", "", .act = do_watch },
	{ "wp", "R", .act = do_wp },
	{ "unwp", "R", .act = do_unwp },
	{ "unwatch", "R", .act = do_unwatch },
	{ "clear-refs", "n", .act = do_clear_refs },
	{ "lock", "R", .act = do_lock },
	{ "unlock", "R", .act = do_unlock },
	{ "hold", "A", .act = do_hold },
	{ "pin", "A", .act = do_pin },
	{ "drop", "", .act = do_drop },
	{ "crowd", "n", .act = do_crowd },
	{ "split", "R", .act = do_split },
	{ "idle", "R", .act = do_idle },
	{ "look", "R", .act = do_look },
	{ "warm", "", .act = do_warm, .setting = true },
	{ "fail", "n", .act = do_fail, .setting = true },
	{ .name = NULL },
};
