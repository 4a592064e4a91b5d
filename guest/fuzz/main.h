/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_FUZZ_MAIN_H
#define QUIRE_FUZZ_MAIN_H

/*
 * What the counting plugin counts: nothing; a region for each program, numbered
 * from 0 in their order; or region 0 around each operation (cost.c).
 */
enum counting { COUNT_NOTHING, COUNT_COVER, COUNT_COST };

/* What `swap on` swaps to: compressed memory, a plain block device, or nothing. */
enum swap_device { SWAP_ZRAM, SWAP_BLOCK, SWAP_NONE };

/* Runs the programs of /programs; returns the exit status. */
int fuzz_main(enum counting counting, enum swap_device device);

/* global.c: once, before the first program. */
void system_open(enum swap_device device);

/* region.c */
void regions_arm(void);
void region_begin(unsigned int number);
void region_end(unsigned int number);

/* cost.c */
void costs_arm(void);

#endif
