/* SPDX-License-Identifier: GPL-2.0 */
/* Swap on one zram device with the kernel's default compressor. */
#ifndef QUIRE_SWAP_H
#define QUIRE_SWAP_H

#include <stddef.h>

/* Make /dev/zram0 a swap device of that many MiB and swap on it. */
void swap_on(unsigned long mib);
/*
 * Bring everything back in, stop swapping and reset the device. Dies when that
 * does not end.
 */
void swap_off(void);
/* The same, from any state, without dying (used between test cases). */
void swap_reset(void);

/*
 * KiB of swap in use now. Each CPU keeps up to 64 free slots to hand out, and
 * up to 64 to give back, which count; swap_settle() returns them.
 */
unsigned long swap_used_kib(void);
void swap_settle(void);

/* An empty block device of that size, which nothing else uses; its path. */
const char *swap_spare_device(unsigned long pages);

/*
 * MADV_PAGEOUT of a range of whole pages; dies on error. What was swapped out
 * is for the caller to check: pagemap_swapped().
 */
void page_out(void *addr, size_t len);
/* Swap these pages out, every one, or die. */
void swap_out(char *addr, size_t pages);

#endif
