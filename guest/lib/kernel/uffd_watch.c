// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/uffd.h"
#include "kernel/uffd_watch.h"
#include "report/die.h"

#define LOOK_MS 20	/* how often the thread checks whether to end */

struct uffd_watch {
	int uffd;
	char *addr;
	size_t pages;
	pthread_t thread;
	bool end;		/* shared with the thread */
	struct uffd_moved moved;
	bool stopped[];
};

static void on_write(struct uffd_watch *watch, uint64_t at)
{
	size_t page = (at - (uintptr_t)watch->addr) / PAGE_SIZE;

	if (page >= watch->pages)
		die("userfault at %#llx, outside the watched range",
		    (unsigned long long)at);
	__atomic_store_n(&watch->stopped[page], true, __ATOMIC_SEQ_CST);
	uffd_writeprotect(watch->uffd, watch->addr + page * PAGE_SIZE,
			  PAGE_SIZE, false);
}

static void on_event(struct uffd_watch *watch, const struct uffd_msg *msg)
{
	switch (msg->event) {
	case UFFD_EVENT_PAGEFAULT:
		if (!(msg->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP))
			die("a userfault that is not for write protection");
		on_write(watch, msg->arg.pagefault.address);
		break;
	case UFFD_EVENT_REMAP:
		watch->moved.from = msg->arg.remap.from;
		watch->moved.to = msg->arg.remap.to;
		watch->moved.len = msg->arg.remap.len;
		__atomic_add_fetch(&watch->moved.moves, 1, __ATOMIC_SEQ_CST);
		break;
	default:
		die("unexpected userfaultfd event %#x", msg->event);
	}
}

static void *watch_thread(void *arg)
{
	struct uffd_watch *watch = arg;
	struct uffd_msg msg;

	while (!__atomic_load_n(&watch->end, __ATOMIC_SEQ_CST)) {
		if (uffd_event(watch->uffd, &msg, LOOK_MS))
			on_event(watch, &msg);
	}
	return NULL;
}

struct uffd_watch *uffd_watch_start(int uffd, char *addr, size_t pages)
{
	struct uffd_watch *watch = allocate(1, sizeof(*watch) + pages);

	watch->uffd = uffd;
	watch->addr = addr;
	watch->pages = pages;
	if (pthread_create(&watch->thread, NULL, watch_thread, watch))
		die("cannot start a thread");
	return watch;
}

bool uffd_watch_stopped(const struct uffd_watch *watch, size_t page)
{
	return __atomic_load_n(&watch->stopped[page], __ATOMIC_SEQ_CST);
}

/*
 * The mremap() waits until the event was read, not until the thread has
 * recorded it. Wait for the thread first.
 */
struct uffd_moved uffd_watch_moved(struct uffd_watch *watch)
{
	unsigned int tries = 50;

	while (!__atomic_load_n(&watch->moved.moves, __ATOMIC_SEQ_CST) && tries--)
		sleep_ms(1);
	return watch->moved;
}

void uffd_watch_end(struct uffd_watch *watch)
{
	__atomic_store_n(&watch->end, true, __ATOMIC_SEQ_CST);
	if (pthread_join(watch->thread, NULL))
		die("cannot join a thread");
	free(watch);
}
