// SPDX-License-Identifier: GPL-2.0
/*
 * A process moves a range to and fro, while its owner writes to it, protects it,
 * forks and takes references to its pages, all at once. Each page keeps what was
 * written last, and a child keeps what it got.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "memory/hold.h"
#include "memory/probe.h"
#include "migrate.h"
#include "process/child.h"
#include "process/cpu.h"
#include "report/die.h"

#define RACE_MS		1500
#define RACE_SECONDS	90u
#define CHILD_LOOKS	3u

struct scene {
	char *at;
	size_t pages;
	bool end;
	unsigned long writes, changes, holds, forks;
	uint64_t last[2 * PMD_PAGES];	/* the writer's value of each page */
};

static bool ended(const struct scene *scene)
{
	return __atomic_load_n(&scene->end, __ATOMIC_SEQ_CST);
}

static uint64_t value(const struct scene *scene, size_t page)
{
	return __atomic_load_n(&scene->last[page], __ATOMIC_SEQ_CST);
}

static uint32_t next_random(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

/* Reads what it wrote last, and writes more, wherever it may. */
static void *write_pages(void *arg)
{
	struct scene *scene = arg;
	uint32_t random = 1;

	while (!ended(scene)) {
		size_t n = next_random(&random) % scene->pages;
		uint64_t was = value(scene, n), is = 0;
		char *page = page_at(scene->at, n);

		EXPECT_EQ(probe_read(page, &is), 0);
		EXPECT(is == was, "page %zu has %llu, not %llu", n,
		       (unsigned long long)is, (unsigned long long)was);
		/* A page that is read-only now stays as it is. */
		if (probe_write(page, was + 1))
			continue;
		__atomic_store_n(&scene->last[n], was + 1, __ATOMIC_SEQ_CST);
		scene->writes++;
	}
	return NULL;
}

static void *protect_pages(void *arg)
{
	struct scene *scene = arg;
	uint32_t random = 2;

	while (!ended(scene)) {
		size_t n = next_random(&random) % scene->pages;
		size_t nr = 1 + next_random(&random) % (scene->pages - n);

		range_protect(page_at(scene->at, n), nr, PROT_READ);
		range_protect(scene->at, scene->pages, PROT_READ | PROT_WRITE);
		scene->changes++;
		sleep_ms(1);
	}
	return NULL;
}

/* What a reference shows is not older than the reference. */
static void *hold_pages(void *arg)
{
	static char copy[PAGE_SIZE] __attribute__((aligned(8)));
	struct scene *scene = arg;
	uint32_t random = 3;

	while (!ended(scene)) {
		size_t n = next_random(&random) % scene->pages;
		struct hold hold = hold_start();
		uint64_t before = value(scene, n), is;

		hold_page(&hold, page_at(scene->at, n));
		hold_read(&hold, copy);
		hold_end(&hold);
		is = *(uint64_t *)copy;
		EXPECT(is >= before && is <= value(scene, n) + 1,
		       "a reference to page %zu shows %llu, not %llu or more",
		       n, (unsigned long long)is, (unsigned long long)before);
		scene->holds++;
	}
	return NULL;
}

/* What the parent writes later does not show. */
static void look_again(const struct scene *scene)
{
	static uint64_t first[2 * PMD_PAGES];
	unsigned int look;
	size_t n;

	for (n = scene->pages / 2; n < scene->pages; n++)
		first[n] = *(volatile uint64_t *)page_at(scene->at, n);
	for (look = 0; look < CHILD_LOOKS; look++) {
		sleep_ms(2);
		for (n = scene->pages / 2; n < scene->pages; n++)
			EXPECT_EQ(*(volatile uint64_t *)page_at(scene->at, n),
				  first[n]);
	}
	exit(STATUS_OK);
}

static void fork_until_end(struct scene *scene)
{
	long until = now_ms() + RACE_MS;
	pid_t child;

	while (now_ms() < until) {
		child = fork_child();
		if (!child)
			look_again(scene);
		wait_child(child, "a child of the race");
		scene->forks++;
	}
	__atomic_store_n(&scene->end, true, __ATOMIC_SEQ_CST);
}

QUIRE_CASE_FULL(migrate, race, RACE_SECONDS * 1000u,
		KTAP_SIZES(4, 64, 256, 2048))
{
	void *(*const steps[])(void *) = {
		write_pages, protect_pages, hold_pages,
	};
	static struct scene scene;
	pthread_t threads[ARRAY_SIZE(steps)];
	struct mover mover;
	size_t i, n;

	needs_nodes();
	scene.pages = range_pages(kib);
	scene.at = migrate_range(kib, true);
	for (n = 0; n < scene.pages; n++)
		*(uint64_t *)page_at(scene.at, n) = 0;
	mover = mover_start(scene.at, scene.pages);
	/* The first half stays in large folios: it is never copied. */
	if (madvise(scene.at, scene.pages / 2 * PAGE_SIZE, MADV_DONTFORK))
		die_errno("MADV_DONTFORK");
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (pthread_create(&threads[i], NULL, steps[i], &scene))
			die("cannot start a thread");
	}
	fork_until_end(&scene);
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		pthread_join(threads[i], NULL);
	mover_end(&mover);
	for (n = 0; n < scene.pages; n++)
		EXPECT_EQ(*(uint64_t *)page_at(scene.at, n), scene.last[n]);
	EXPECT(scene.writes && scene.changes && scene.holds && scene.forks,
	       "%lu writes, %lu changes, %lu references, %lu forks",
	       scene.writes, scene.changes, scene.holds, scene.forks);
	range_drop(scene.at, scene.pages);
}
