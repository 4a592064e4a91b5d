/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUIRE_RANDOM_H
#define QUIRE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A number below that, from a fixed sequence (a linear congruential generator). */
static inline size_t random_below(uint32_t *random, size_t below)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) % below;
}

#endif
