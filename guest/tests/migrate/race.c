// SPDX-License-Identifier: GPL-2.0
/*
 * A process moves a range to and fro, while its owner writes to it, protects it,
 * forks, takes references to its pages, and has a device read into them and write
 * from them, all at once. Each page keeps what was written last, and a child
 * keeps what it got.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "migrate.h"
#include "process/child.h"
#include "process/map.h"
#include "report/die.h"

#define RACE_MS		1500
#define RACE_SECONDS	90u
#define CHILD_LOOKS	3u

/* The first page of each so many is for direct I/O, the others for the CPU. */
#define DIRECT		8u
/* Block n of the device holds page n of SEED_NEW; the last one is written to. */
#define BLOCKS		16u

struct scene {
	char *at;
	size_t pages;
	bool end;
	int device;
	unsigned long writes, changes, holds, reads, forks;
	/* The value of each page; for direct I/O, 1 + the block it comes from. */
	uint64_t last[2 * MOST_PMD_PAGES];
};

static bool ended(const struct scene *scene)
{
	return __atomic_load_n(&scene->end, __ATOMIC_SEQ_CST);
}

static uint64_t value(const struct scene *scene, size_t page)
{
	return __atomic_load_n(&scene->last[page], __ATOMIC_SEQ_CST);
}

static bool is_direct(size_t page)
{
	return page % DIRECT == 0;
}

/* A page for the CPU. */
static size_t any_page(const struct scene *scene, uint32_t *random)
{
	size_t n = random_below(random, scene->pages);

	return n + is_direct(n);
}

/* Reads what it wrote last, and writes more, wherever it may. */
static void *write_pages(void *arg)
{
	struct scene *scene = arg;

	uint32_t random = 1;

	while (!ended(scene)) {
		size_t n = any_page(scene, &random);
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
		size_t n = random_below(&random, scene->pages);
		size_t nr = 1 + random_below(&random, scene->pages - n);

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
	static char copy[MOST_PAGE_SIZE] __attribute__((aligned(8)));
	struct scene *scene = arg;
	uint32_t random = 3;

	while (!ended(scene)) {
		size_t n = any_page(scene, &random);
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

/* Direct I/O pins pages: what a device reads or writes is that of the process. */
static void *read_pages(void *arg)
{
	struct scene *scene = arg;
	char *copy = map_anon(NULL, PAGE_SIZE);

	uint32_t random = 4;

	while (!ended(scene)) {
		size_t n = random_below(&random, scene->pages) / DIRECT * DIRECT;
		size_t block = random_below(&random, BLOCKS);
		char *page = page_at(scene->at, n);

		if (pread(scene->device, page, PAGE_SIZE, block * PAGE_SIZE) ==
		    (ssize_t)PAGE_SIZE)
			scene->last[n] = block + 1;
		else if (errno != EFAULT)	/* read-only now */
			die_errno("direct read of block %zu", block);
		if (!scene->last[n])
			continue;
		block = scene->last[n] - 1;
		EXPECT(pattern_verify_page(page, SEED_NEW, block) < 0,
		       "page %zu has not what was read from the device", n);
		if (pwrite(scene->device, page, PAGE_SIZE, BLOCKS * PAGE_SIZE) !=
		    (ssize_t)PAGE_SIZE ||
		    pread(scene->device, copy, PAGE_SIZE, BLOCKS * PAGE_SIZE) !=
		    (ssize_t)PAGE_SIZE)
			die_errno("direct I/O of page %zu", n);
		EXPECT(pattern_verify_page(copy, SEED_NEW, block) < 0,
		       "page %zu was not what the device wrote", n);
		scene->reads++;
	}
	unmap(copy, PAGE_SIZE);
	return NULL;
}

static void expect_last(const struct scene *scene)
{
	size_t n;

	for (n = 0; n < scene->pages; n++) {
		char *page = page_at(scene->at, n);

		if (!is_direct(n))
			EXPECT_EQ(*(uint64_t *)page, scene->last[n]);
		else if (scene->last[n])
			EXPECT(pattern_verify_page(page, SEED_NEW,
						   scene->last[n] - 1) < 0,
			       "page %zu has not what was read last", n);
	}
}

/* What the parent writes later does not show. */
static void look_again(const struct scene *scene)
{
	static uint64_t first[2 * MOST_PMD_PAGES];
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
		write_pages, protect_pages, hold_pages, read_pages,
	};
	static struct scene scene;
	pthread_t threads[ARRAY_SIZE(steps)];
	struct mover mover;
	size_t i, n;

	needs_nodes();
	scene.pages = range_pages(kib);
	scene.at = range_by_ptes(kib);
	for (n = 0; n < scene.pages; n++)
		*(uint64_t *)page_at(scene.at, n) = 0;
	scene.device = swap_open_spare_filled(BLOCKS + 1, SEED_NEW);
	mover = mover_start(scene.at, scene.pages);
	/* The first half stays in large folios: it is never copied. */
	range_advise(scene.at, scene.pages / 2, MADV_DONTFORK);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (pthread_create(&threads[i], NULL, steps[i], &scene))
			die("cannot start a thread");
	}
	fork_until_end(&scene);
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		pthread_join(threads[i], NULL);
	mover_end(&mover);
	expect_last(&scene);
	EXPECT(scene.writes && scene.changes && scene.holds && scene.reads &&
	       scene.forks,
	       "%lu writes, %lu changes, %lu references, %lu reads, %lu forks",
	       scene.writes, scene.changes, scene.holds, scene.reads,
	       scene.forks);
	close(scene.device);
}
