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
void fail_allocations_start(void);
/* Only one fails, of a page, and it may be one that may sleep. */
void fail_next_page(void);
/* After either. */
void fail_allocations_end(void);

#endif
