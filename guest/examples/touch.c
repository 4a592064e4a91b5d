// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A workload of your own: the first touch of 16 MiB of anonymous memory.
 *
 *	quire bench --workload guest/examples/touch.c
 *
 * The lab passes the parameters of a run as arguments. Of these, size=KIB is
 * the size of the folios that page faults allocate. By hand:
 *
 *	gcc -O2 -static -I guest/include -o touch guest/examples/touch.c && ./touch
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "quire.h"

#define PAGE	4096ul
#define ALIGN	(2ul << 20)	/* the largest folio */
#define LEN	(16ul << 20)

static unsigned long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

int main(void)
{
	char *map = mmap(NULL, LEN + ALIGN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *area;
	unsigned long at, before;

	if (map == MAP_FAILED) {
		quire_fail("cannot map %lu MiB", LEN >> 20);
		return 1;
	}
	area = map + (ALIGN - (unsigned long)map % ALIGN) % ALIGN;
	before = faults();

	quire_start();
	for (at = 0; at < LEN; at += PAGE)
		*(volatile char *)(area + at) = 1;
	quire_stop();

	quire_pages(LEN / PAGE);
	quire_ops(1);
	quire_counter("faults", before, faults());
	for (at = 0; at < LEN; at += PAGE) {
		if (area[at] != 1 || area[at + 1] != 0)
			quire_fail("page %lu has wrong data", at / PAGE);
	}
	return 0;
}
