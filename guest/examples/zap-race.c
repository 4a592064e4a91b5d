// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * One thread drops memory, two write to it, and folios of 64 KiB come and go:
 * a fault maps another size before MADV_DONTNEED has flushed (docs/dev/stock.md).
 *
 *	quire test --stock --base 7.3 --smp 4 --config configs/tlbcheck.config \
 *		--program guest/examples/zap-race.c ARCH=arm64
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZES "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled"
#define FOLIO 65536ul
/* One page table. */
#define LENGTH (32 * FOLIO)
#define SECONDS 15

static char *memory;
static atomic_bool stop;

static void *drop(void *unused)
{
	while (!stop)
		for (unsigned long at = 0; at < LENGTH; at += FOLIO)
			madvise(memory + at, FOLIO, MADV_DONTNEED);
	return unused;
}

static void *write_anywhere(void *seed)
{
	uint64_t state = (uintptr_t)seed;

	while (!stop) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		memory[(state >> 33) % LENGTH] = 1;
	}
	return NULL;
}

static void *change_size(void *unused)
{
	int file = open(SIZES, O_WRONLY);

	while (!stop && write(file, "always", 6) == 6) {
		usleep(3000);
		if (write(file, "never", 5) != 5)
			break;
		usleep(3000);
	}
	close(file);
	return unused;
}

int main(void)
{
	void *(*const run[])(void *) = { drop, write_anywhere, write_anywhere, change_size };
	pthread_t threads[4];

	memory = mmap((void *)0x2000000000, LENGTH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	for (uintptr_t i = 0; i < 4; i++)
		if (memory == MAP_FAILED ||
		    pthread_create(&threads[i], NULL, run[i], (void *)i))
			return 1;
	sleep(SECONDS);
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	/* The kernel tells the hazard, and so fails the test. */
	printf("TAP version 13\n1..1\nok 1 written\n");
	return 0;
}
