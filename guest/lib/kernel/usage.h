/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory and swap the kernel reports as in use. */
#ifndef QUIRE_USAGE_H
#define QUIRE_USAGE_H

struct usage {
	unsigned long rss, anon, charged, memcg_anon;	/* KiB */
	unsigned long vm_swap, swap, memcg_swap;
};

/* Of this process, of the system and of the cgroup; needs memcg_enter(). */
struct usage usage_now(void);
/*
 * About that much more than before is mapped, or in swap. Not exactly: per-CPU
 * counters are not exact, and reclaim of the cgroup takes other memory, too.
 */
void expect_usage(const struct usage *first, unsigned long mapped_kib,
		  unsigned long swapped_kib);

#endif
