/* SPDX-License-Identifier: GPL-2.0 */
/* A hash map from numbers that are not zero to numbers. All zero: empty. */
#ifndef QUIRE_MAP_H
#define QUIRE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map {
	struct map_entry {
		uint64_t key;		/* 0: an empty entry */
		uint64_t value;
	} *entries;
	size_t room;			/* a power of two, or 0 */
	size_t used;
};

/* The value of @key, zero at first. Valid until the next call. */
uint64_t *map_at(struct map *map, uint64_t key);

/* Removes all entries, but keeps the room. */
void map_clear(struct map *map);

#endif
