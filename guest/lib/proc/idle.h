/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The idle-page bitmap, /sys/kernel/mm/page_idle/bitmap: one bit a pfn, read
 * and written in words of 64. Setting a page's bit, and reading a bit that is
 * set, both make the kernel look up every mapping of that page and clear its
 * accessed bit; a mapping accessed meanwhile makes the page not idle.
 */
#ifndef QUIRE_IDLE_H
#define QUIRE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct idle_bit {
	int fd;
	uint64_t pfn;
	uint64_t mask;	/* the page's bit in its word */
	int64_t offset;	/* the word's place in the file */
};

/* Open the bitmap for one page. */
struct idle_bit idle_open(uint64_t pfn);
/* Mark the page idle; dies on error. */
void idle_set(const struct idle_bit *bit);
/* Is it still idle? */
bool idle_get(const struct idle_bit *bit);

#endif
