/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page contents that differ for every page of every seed, and are cheap to
 * write and to check. Page n of a range holds 512 words of an arithmetic
 * sequence modulo 2^64 (a Weyl sequence) whose start and odd step depend on
 * seed and n. No four bytes repeat, so LZ4 cannot compress it. Nothing is
 * random.
 */
#ifndef QUIRE_PATTERN_H
#define QUIRE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Fill or check len bytes (whole pages); the page at addr is page 0. */
void pattern_write(void *addr, size_t len, uint64_t seed);
/* Returns the number of the first wrong page, or -1 when all are right. */
long pattern_verify(const void *addr, size_t len, uint64_t seed);

/*
 * The same with one word per page, repeated. zram stores such a page as that
 * word, without compression.
 */
void pattern_write_words(void *addr, size_t len, uint64_t seed);
long pattern_verify_words(const void *addr, size_t len, uint64_t seed);

/* One page, with its number. verify: the first wrong byte, or -1. */
void pattern_write_page(void *page, uint64_t seed, size_t number);
long pattern_verify_page(const void *page, uint64_t seed, size_t number);

/* Returns the number of the first page with a byte other than 0, or -1. */
long pattern_verify_zero(const void *addr, size_t len);

#endif
