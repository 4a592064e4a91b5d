// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A test of your own: any static program that reports in KTAP.
 *
 *	quire test --program guest/examples/hello-test.c
 *
 * By hand, on the running kernel:
 *
 *	gcc -static -o hello-test guest/examples/hello-test.c && ./hello-test
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static bool all_ok = true;
static int number;

static void result(bool ok, const char *name)
{
	printf("%sok %d %s\n", ok ? "" : "not ", ++number, name);
	all_ok &= ok;
}

/* One page becomes two, perhaps at another address. */
static bool grow(char **page)
{
	strcpy(*page, "hello");
	*page = mremap(*page, 4096, 8192, MREMAP_MAYMOVE);
	return *page != MAP_FAILED && !strcmp(*page, "hello");
}

int main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("KTAP version 1\n1..2\n");
	if (page == MAP_FAILED) {
		printf("Bail out! no memory\n");
		return 1;
	}
	result(!page[0] && !page[4095], "new_memory_is_zero");
	result(grow(&page), "growing_keeps_data");
	return !all_ok;	/* the lab checks the status, too */
}
