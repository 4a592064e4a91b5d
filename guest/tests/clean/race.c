// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes write to a file while this one calls msync() again and again.
 * In the end they stop, and after one more msync() the device must have what
 * they wrote last: a write that was not noticed is missing there.
 */
#include <sched.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/random.h"
#include "clean.h"
#include "process/child.h"
#include "process/cpu.h"
#include "process/map.h"

#define WRITERS		2
#define ROUNDS		60u
#define RACE_SECONDS	60

/* Shared by all processes. */
struct state {
	bool end;
	unsigned long writes[WRITERS];
	/* The value that each writer wrote last to its word of each page. */
	uint64_t last[WRITERS][2 * MOST_PMD_PAGES];
};

static uint64_t *word_of(const char *at, size_t page, unsigned int writer)
{
	return (uint64_t *)(at + page * PAGE_SIZE) + page % 256 + 256 * writer;
}

static void write_until_end(const struct file *file, struct state *state,
			    unsigned int writer)
{
	uint32_t random = 77 + writer;
	uint64_t value = 1;
	size_t page;

	stay_on_cpu(writer % cpu_count());
	while (!__atomic_load_n(&state->end, __ATOMIC_SEQ_CST)) {
		page = random_below(&random, file->pages);
		*(volatile uint64_t *)word_of(file->at, page, writer) = ++value;
		state->last[writer][page] = value;
		state->writes[writer]++;
		if (value % 64 == 0)
			sched_yield();
	}
	exit(STATUS_OK);
}

static void expect_last(const struct file *file, const struct state *state,
			const char *image)
{
	unsigned int writer;
	uint64_t is, want;
	size_t page;

	for (writer = 0; writer < WRITERS; writer++) {
		for (page = 0; page < file->pages; page++) {
			want = state->last[writer][page];
			is = *word_of(image, page, writer);
			EXPECT(!want || is == want,
			       "page %zu: the device has write %llu of writer %u, not %llu",
			       page, (unsigned long long)is, writer,
			       (unsigned long long)want);
		}
	}
}

QUIRE_CASE_FULL(clean, race, RACE_SECONDS * 1000u,
		KTAP_SIZES(4, 64, 256, 2048))
{
	struct file file = file_range(kib);
	struct state *state;
	pid_t child[WRITERS];
	unsigned int i;

	state = map_or_die(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < WRITERS; i++) {
		child[i] = fork_child();
		if (!child[i])
			write_until_end(&file, state, i);
	}
	for (i = 0; i < ROUNDS; i++) {
		sleep_ms(1);
		if (msync(file.at, file.pages * PAGE_SIZE, MS_SYNC))
			die_errno("msync");
	}
	__atomic_store_n(&state->end, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < WRITERS; i++) {
		wait_child(child[i], "a writer");
		EXPECT(state->writes[i] > ROUNDS, "writer %u did %lu writes", i,
		       state->writes[i]);
	}
	file_sync(&file);
	expect_last(&file, state, file_image(&file));
	file_drop(&file);
}
