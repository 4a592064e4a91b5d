// SPDX-License-Identifier: GPL-2.0
/* A process with several threads; it can have children with one thread each. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/uapi.h"
#include "child.h"
#include "kernel/uffd.h"
#include "memory/probe.h"
#include "ops.h"
#include "report/die.h"
#include "system.h"
#include "worker.h"

#define REAP_EVERY	16u	/* operations */
#define REST_MS		2u

static void obey(enum order order)
{
	size_t i;

	if (order == ORDER_COUNT) {
		account_take();
	} else {
		for (i = 0; i < NR_RANGES; i++)
			range_unlock_pages(&us.range[i]);
	}
	__atomic_add_fetch(&common->obeyed, 1, __ATOMIC_SEQ_CST);
}

/* Runs until the end. The first thread follows the orders of main. */
static void rest(struct actor *self)
{
	bool first = self->seat % MAX_THREADS == 0;
	static uint32_t orders;

	hold_drop(self);
	if (first)
		children_reap(true);
	__atomic_add_fetch(&common->resting, 1, __ATOMIC_SEQ_CST);
	while (pausing() && !stopped() &&
	       !__atomic_load_n(&common->end, __ATOMIC_SEQ_CST)) {
		if (first && orders != __atomic_load_n(&common->orders,
						       __ATOMIC_SEQ_CST))
			obey(orders++ % NR_ORDERS);
		else
			sleep_ms(REST_MS);
	}
	__atomic_sub_fetch(&common->resting, 1, __ATOMIC_SEQ_CST);
}

static void *thread(void *arg)
{
	struct actor *self = arg;

	while (!stopped() && !__atomic_load_n(&common->end, __ATOMIC_SEQ_CST)) {
		if (pausing())
			rest(self);
		self->act(self);
		if (us.children && one_in(self, REAP_EVERY))
			children_reap(false);
	}
	hold_drop(self);
	memset(&common->doing[self->seat], 0, sizeof(struct doing));
	return NULL;
}

static void make_ranges(int file, int shared)
{
	unsigned int i;

	for (i = 0; i < NR_RANGES; i++) {
		bool shmem = range_type_planned(i) == SHMEM;

		/* The shared range has one model, that of the first worker. */
		range_create(&us.range[i], i,
			   &common->model[shmem ? 0 : us.number][i],
			   shmem ? shared : file);
	}
}

static void run_threads(void)
{
	static struct actor actors[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	unsigned int i;

	for (i = 0; i < common->threads; i++) {
		actors[i].seat = us.number * MAX_THREADS + i;
		actors[i].act = act;
		actors[i].random = common->seed * NR_SEATS + actors[i].seat;
		common->doing[actors[i].seat].owner = us.owner;
		if (pthread_create(&threads[i], NULL, thread, &actors[i]))
			die("cannot start a thread");
	}
	for (i = 0; i < common->threads; i++) {
		if (pthread_join(threads[i], NULL))
			die("cannot join a thread");
	}
}

void worker(unsigned int number, int file, int shared)
{
	cgroup_enter();
	probe_init();
	us.number = number;
	us.owner = new_owner();
	us.uffd = uffd_try(UFFD_FEATURE_WP_ASYNC);
	if (us.uffd < 0)
		common->unwatched = true;
	make_ranges(file, shared);
	run_threads();
	children_reap(true);
	exit(common->violations ? STATUS_FAILED : STATUS_OK);
}
