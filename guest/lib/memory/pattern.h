/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page contents that tell every page of every seed apart, cheap to write and to
 * check. Page n of a range holds 512 words of an arithmetic sequence modulo 2^64
 * (a Weyl sequence) whose start and odd step depend on seed and n: no four bytes
 * repeat, so that LZ4 finds nothing to shorten; nothing random either.
 */
#ifndef QUIRE_PATTERN_H
#define QUIRE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Fill / check len bytes (whole pages); the page at addr is page 0. */
void pattern_write(void *addr, size_t len, uint64_t seed);
/* Returns the number of the first wrong page, or -1 when all are right. */
long pattern_verify(const void *addr, size_t len, uint64_t seed);

/*
 * The same with one word, repeated, for each page: zram keeps such a page as
 * that word and compresses nothing.
 */
void pattern_write_words(void *addr, size_t len, uint64_t seed);
long pattern_verify_words(const void *addr, size_t len, uint64_t seed);

/* One page, with its number given. verify: the first wrong byte, or -1. */
void pattern_write_page(void *page, uint64_t seed, size_t number);
long pattern_verify_page(const void *page, uint64_t seed, size_t number);

/* Returns the number of the first page with a byte other than 0, or -1. */
long pattern_verify_zero(const void *addr, size_t len);

#endif
