/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations of pages that fail on demand, while this process is in the kernel:
 * those that may not wait (GFP_ATOMIC and the like), all of them. Needs a kernel
 * with configs/debug.config.
 */
#ifndef QUIRE_FAIL_H
#define QUIRE_FAIL_H

/* Skip the case on a kernel that cannot. */
void needs_failing_pages(void);
void fail_pages_start(void);
void fail_pages_end(void);

#endif
