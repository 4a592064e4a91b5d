/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces libnuma's header of this name; see numa.h. */
#ifndef QUIRE_STANDIN_NUMAIF_H
#define QUIRE_STANDIN_NUMAIF_H

#include <linux/mempolicy.h>

long move_pages(int pid, unsigned long count, void **pages, const int *nodes,
		int *status, int flags);

#endif
