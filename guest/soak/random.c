// SPDX-License-Identifier: GPL-2.0
#include "soak.h"

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do. */
uint64_t random_number(struct actor *self)
{
	uint64_t x = self->random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

size_t below(struct actor *self, size_t n)
{
	return (random_number(self) >> 8) % n;
}

bool one_in(struct actor *self, unsigned int n)
{
	return !below(self, n);
}
