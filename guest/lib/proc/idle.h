/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The idle-page bitmap, /sys/kernel/mm/page_idle/bitmap: one bit per pfn, read
 * and written in words of 64 bits. Setting a page's bit and reading a set bit
 * both make the kernel walk the page's mappings (rmap) and clear their accessed
 * bits. A page that was accessed in between is no longer idle.
 */
#ifndef QUIRE_IDLE_H
#define QUIRE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#define IDLE_BITS	64u	/* in a word of the bitmap */

struct idle_bit {
	int fd;
	uint64_t pfn;
	uint64_t mask;	/* the page's bit in its word */
	int64_t offset;	/* the word's offset in the file */
};

/* Open the bitmap; returns the file descriptor. */
int idle_bitmap(void);
/* Open the bitmap for one page. */
struct idle_bit idle_open(uint64_t pfn);
/* Mark the page idle; dies on error. */
void idle_set(const struct idle_bit *bit);
/* Is it still idle? */
bool idle_get(const struct idle_bit *bit);

#endif
