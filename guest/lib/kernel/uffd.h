/* SPDX-License-Identifier: GPL-2.0 */
/* The part of userfaultfd that the tests need. All functions die on error. */
#ifndef QUIRE_UFFD_H
#define QUIRE_UFFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uapi.h"

/* Opens a userfaultfd with these UFFD_FEATURE_* bits; -1: the kernel refuses them. */
int uffd_try(uint64_t features);
/* The same; skips the case if it does: an architecture may have no bit for them. */
int uffd_open(uint64_t features);
/* The same; skips the case on a kernel without them. */
int uffd_open_or_skip(uint64_t features);
/* Registers a range for the UFFDIO_REGISTER_MODE_* bits. */
void uffd_register(int uffd, void *addr, size_t len, uint64_t mode);
void uffd_register_wp(int uffd, void *addr, size_t len);
void uffd_unregister(int uffd, void *addr, size_t len);
/* Sets write protection on a range, or with protect = false removes it. */
void uffd_writeprotect(int uffd, void *addr, size_t len, bool protect);
/* The same for protection against any access (mode RWP). */
void uffd_rwprotect(int uffd, void *addr, size_t len, bool protect);
/*
 * Moves pages to a registered range where nothing is mapped. Returns the number
 * of bytes moved, or if the first page cannot move, -errno.
 */
long uffd_move(int uffd, void *to, const void *from, size_t len);
/* Moves of one range after the other. */
struct uffd_moves {
	struct uffdio_move call;	/* the present one */
	uint64_t rest;			/* bytes behind it */
};

/*
 * Moves again behind what has moved, as programs do, and less at a time where
 * the range is not in one VMA. Returns 0, or the error of the first page that
 * stays; call.len and rest are what is left.
 */
int uffd_move_on(int uffd, struct uffd_moves *moves);
/* Reads the next event; false when none comes within timeout_ms. */
bool uffd_event(int uffd, struct uffd_msg *msg, int timeout_ms);

#endif
