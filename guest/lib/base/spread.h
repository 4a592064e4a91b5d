/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_SPREAD_H
#define QUIRE_SPREAD_H

#include <stdint.h>

/* Spread the bits of x over the whole word, one to one. */
static inline uint64_t spread(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return x ^ (x >> 32);
}

#endif
