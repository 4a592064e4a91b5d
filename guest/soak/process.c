// SPDX-License-Identifier: GPL-2.0
#include "soak.h"

struct common *common;
struct process us;

/* 0 means none. Children are short-lived; numbers are reused, long after. */
uint32_t new_owner(void)
{
	return __atomic_fetch_add(&common->owners, 1, __ATOMIC_RELAXED) %
	       (OWNER_ALL - 1) + 1;
}
