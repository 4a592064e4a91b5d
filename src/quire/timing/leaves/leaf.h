/* SPDX-License-Identifier: GPL-2.0 */
/* One inner loop, from the sources of two kernels. */
#ifndef LEAF_H
#define LEAF_H

#include <stdbool.h>

#define PAGE_SIZE	4096UL

bool leaf_a(void *page);
bool leaf_b(void *page);

#endif
