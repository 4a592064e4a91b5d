// SPDX-License-Identifier: GPL-2.0
/*
 * Children share the pages of their parent until one of the two writes. When a
 * child is forked, it knows the contents of each page from its parent, except
 * for pages that were being changed at that moment.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "ops.h"
#include "page.h"
#include "report/die.h"
#include "scene.h"

#define MAX_DEPTH	2u
#define MAX_LIVE	2u	/* children of one process */
#define LIFE_LEAST	5u	/* operations */
#define LIFE_MORE	40u

/* The data that a child needs about its fork. */
struct birth {
	unsigned int slot;
	struct scene scene;
};

static struct model *model_of(unsigned int slot, const struct range *range)
{
	return &common->model[MAX_PROCESSES + slot][range->number];
}

/* Returns MAX_CHILDREN when there is none. */
static unsigned int take_slot(void)
{
	unsigned int slot;

	for (slot = 0; slot < MAX_CHILDREN; slot++) {
		uint32_t bit = 1u << slot;

		if (!(__atomic_fetch_or(&common->slots, bit, __ATOMIC_SEQ_CST) &
		      bit))
			break;
	}
	return slot;
}

static void release_slot(unsigned int slot)
{
	__atomic_fetch_and(&common->slots, ~(1u << slot), __ATOMIC_SEQ_CST);
}

/* Is the parent still playing the scene that the child has to watch? */
static bool playing(unsigned int slot)
{
	return __atomic_load_n(&common->playing[slot], __ATOMIC_SEQ_CST);
}

static void set_playing(unsigned int slot, bool on)
{
	__atomic_store_n(&common->playing[slot], on, __ATOMIC_SEQ_CST);
}

/* The present contents; if `changes` is odd or old, they are not known. */
static void copy_page(struct page *to, const struct page *from)
{
	to->taken = 0;
	to->changes = __atomic_load_n(&from->changes, __ATOMIC_SEQ_CST);
	to->key = __atomic_load_n(&from->key, __ATOMIC_SEQ_CST);
	to->lazy = __atomic_load_n(&from->lazy, __ATOMIC_SEQ_CST);
	to->unknown = from->unknown;
}

static void copy_models(const struct birth *birth)
{
	size_t i, n;

	for (i = 0; i < NR_RANGES; i++) {
		struct range *range = &us.range[i];
		struct model *model = model_of(birth->slot, range);

		if (range->type == SHMEM)
			continue;
		model->generation = 0;
		model->next_note = 0;
		for (n = 0; n < range->pages; n++)
			copy_page(&model->page[n], &range->model->page[n]);
	}
}

/* In the child: finds the pages that changed since copy_models(). */
static void adopt(struct range *range, struct model *model)
{
	size_t n;

	for (n = 0; n < range->pages; n++) {
		struct page *page = &model->page[n];
		const struct page *theirs = &range->model->page[n];

		if (page->changes % 2 || page->changes !=
		    __atomic_load_n(&theirs->changes, __ATOMIC_SEQ_CST))
			page->unknown = true;
		page->changes = 0;
	}
	range->model = model;
}

static void become_child(struct birth *birth)
{
	size_t i;

	us.owner = new_owner();
	us.depth++;
	us.children = 0;
	us.uffd = -1;	/* it watches the parent */
	for (i = 0; i < NR_RANGES; i++) {
		struct range *range = &us.range[i];

		pthread_mutex_init(&range->layout, NULL);
		if (range->type != SHMEM)
			adopt(range, model_of(birth->slot, range));
		where_change(range, 0, range->pages, 0, LOCKED);
		range->nr_locked = 0;
	}
	scene_inherited(&birth->scene);
}

static void verify_all(struct range *range)
{
	size_t n;

	for (n = 0; n < range->pages && !pausing(); n++) {
		if (!page_take(range, n))
			continue;
		page_verify(range, n);
		page_release(range, n);
	}
}

static void __attribute__((noreturn))
live(struct birth *birth, uint64_t random,
     void (*act)(struct actor *self))
{
	struct actor self = {
		.random = random,
		.act = act,
		.seat = MAX_PROCESSES * MAX_THREADS + birth->slot,
	};
	struct range *favourite;
	size_t left;

	become_child(birth);
	common->doing[self.seat].owner = us.owner;
	favourite = birth->scene.range ? birth->scene.range :
					 &us.range[below(&self, NR_RANGES)];
	verify_all(favourite);
	left = LIFE_LEAST + below(&self, LIFE_MORE);
	while ((left || playing(birth->slot)) && !stopped() && !pausing()) {
		self.act(&self);
		left -= !!left;
	}
	verify_all(favourite);
	hold_drop(&self);
	children_reap(true);
	memset(&common->doing[self.seat], 0, sizeof(struct doing));
	release_slot(birth->slot);
	_exit(stopped() ? STATUS_FAILED : STATUS_OK);
}

/*
 * Needs the mutexes of all ranges. Returns as fork() does, only in the parent.
 */
static pid_t give_birth(struct actor *self, struct birth *birth)
{
	uint64_t random = random_number(self);
	pid_t pid;

	scene_set(self, &birth->scene);
	copy_models(birth);
	__atomic_add_fetch(&us.children, 1, __ATOMIC_SEQ_CST);
	set_playing(birth->slot, true);
	pid = fork();
	if (!pid)
		live(birth, random, self->act);
	if (pid < 0)
		__atomic_sub_fetch(&us.children, 1, __ATOMIC_SEQ_CST);
	scene_forked(&birth->scene);
	return pid;
}

bool child_fork(struct actor *self, struct range *range)
{
	struct birth birth = { .slot = 0 };
	pid_t pid;

	if (us.depth == MAX_DEPTH || us.children >= MAX_LIVE || pausing())
		return false;
	birth.slot = take_slot();
	if (birth.slot == MAX_CHILDREN)
		return false;
	ranges_lock();
	pid = give_birth(self, &birth);
	ranges_unlock();
	if (pid < 0) {
		release_slot(birth.slot);
		return false;	/* short of memory */
	}
	if (birth.scene.range) {
		range = birth.scene.range;
		scene_play(self, &birth.scene);
	}
	set_playing(birth.slot, false);
	note(self, range, birth.scene.run.first, birth.scene.run.count, pid);
	return true;
}

static void judge(int status)
{
	if (WIFSIGNALED(status))
		violation(NULL, -1, "a child was killed by signal %d (%s)",
			  WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		violation(NULL, -1, "a child ended with status %d",
			  WEXITSTATUS(status));
}

void children_reap(bool all)
{
	int status;
	pid_t pid;

	while (__atomic_load_n(&us.children, __ATOMIC_SEQ_CST)) {
		pid = waitpid(-1, &status, all ? 0 : WNOHANG);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		judge(status);
		__atomic_sub_fetch(&us.children, 1, __ATOMIC_SEQ_CST);
	}
}
