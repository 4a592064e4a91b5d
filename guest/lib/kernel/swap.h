/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swap on one zram device with the kernel's default compressor, or on a plain
 * block device.
 */
#ifndef QUIRE_SWAP_H
#define QUIRE_SWAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define SWAP_FOR_TESTS	(64 * PAGE_SCALE)	/* room for their ranges */

/*
 * Makes /dev/zram0 a swap device of that many MiB, and enables it. Returns its
 * path.
 */
const char *swap_on(unsigned long mib);
/*
 * The same on a null_blk device (nullb.h): folios stay in the swap cache after they
 * have been written. _slow: each request takes that many ms.
 */
const char *swap_on_block(unsigned long mib);
const char *swap_on_block_slow(unsigned long mib, unsigned long ms);
/*
 * Swaps everything in, disables swap and resets the device. Dies if that does
 * not end.
 */
void swap_off(void);
/*
 * The same for either device, from any state and without dying, for use between
 * test cases.
 */
void swap_reset(void);

/*
 * KiB of swap in use now. Each CPU caches up to 64 slots to allocate and up to
 * 64 to free, and all of them count; swap_settle() returns them.
 */
unsigned long swap_used_kib(void);
void swap_settle(void);

/*
 * How many references to a slot its count holds. For one more the kernel needs
 * memory: on 6.12 a continuation page of the swap map (SWAP_MAP_MAX), since
 * swap has tables, one more table for the cluster (SWP_TB_COUNT_MAX - 1, of four
 * bits on 64-bit machines).
 */
size_t swap_count_max(void);

/* An empty, unused block device of that size; returns its path. */
const char *swap_spare_device(unsigned long pages);
/* The same, open for direct I/O; filled: block n holds page n of the pattern. */
int swap_open_spare(unsigned long pages);
int swap_open_spare_filled(unsigned long pages, uint64_t seed);

/*
 * MADV_PAGEOUT of a range of whole pages; dies on error. The caller checks what
 * was swapped out: pagemap_swapped().
 */
void page_out(void *addr, size_t len);
/* Swaps out every one of these pages, or dies. */
void swap_out(char *addr, size_t pages);

#endif
