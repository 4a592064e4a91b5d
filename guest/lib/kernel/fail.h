/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the kernel's allocations for this process fail, of pages and of slab
 * objects: all those that may not sleep (GFP_ATOMIC and the like). Needs a
 * kernel built with configs/debug.config.
 */
#ifndef QUIRE_FAIL_H
#define QUIRE_FAIL_H

/* Skips the case on a kernel without that. */
void needs_failing_allocations(void);
/* Only one fails, of a page, and it may be one that may sleep. */
void fail_next_page(void);
/* After that. */
void fail_allocations_end(void);

/*
 * Those that extend the counts of swap entries and may not sleep. Kernels with
 * seeded bugs have a parameter for that, others need fault injection.
 */
void needs_failing_counts(void);
void fail_counts_start(void);
void fail_counts_end(void);

#endif
