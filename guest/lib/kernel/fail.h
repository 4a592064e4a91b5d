/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the kernel's page allocations for this process fail: all those that may
 * not sleep (GFP_ATOMIC and the like). Needs a kernel built with
 * configs/debug.config.
 */
#ifndef QUIRE_FAIL_H
#define QUIRE_FAIL_H

/* Skips the case on a kernel without that. */
void needs_failing_pages(void);
void fail_pages_start(void);
void fail_pages_end(void);

#endif
