/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_FUZZ_MAIN_H
#define QUIRE_FUZZ_MAIN_H

#include <stdbool.h>

/*
 * Runs the programs of /programs; returns the exit status. cover: each program
 * is a region for the counting plugin, numbered from 0 in their order.
 */
int fuzz_main(bool cover);

/* region.c */
void regions_arm(void);
void region_begin(unsigned int number);
void region_end(unsigned int number);

#endif
