/* SPDX-License-Identifier: GPL-2.0 */
/* userfaultfd, as far as the tests need it. All die on error. */
#ifndef QUIRE_UFFD_H
#define QUIRE_UFFD_H

#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A userfaultfd with these UFFD_FEATURE_* bits. */
int uffd_open(uint64_t features);
/* Register a range for the UFFDIO_REGISTER_MODE_* bits. */
void uffd_register(int uffd, void *addr, size_t len, uint64_t mode);
void uffd_register_wp(int uffd, void *addr, size_t len);
void uffd_unregister(int uffd, void *addr, size_t len);
/* Set (or lift, protect = false) write protection on a range. */
void uffd_writeprotect(int uffd, void *addr, size_t len, bool protect);
/* Next event; false when there is none within timeout_ms. */
bool uffd_event(int uffd, struct uffd_msg *msg, int timeout_ms);

#endif
