// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "util.h"

#define SMALLEST	1024

/* The entry of @key, or the empty one where it belongs. */
static struct map_entry *find(const struct map *map, uint64_t key)
{
	/* Fibonacci hashing; the low half of the product is poor. */
	size_t i = key * 0x9e3779b97f4a7c15u >> 32 & (map->room - 1);

	while (map->entries[i].key && map->entries[i].key != key)
		i = (i + 1) & (map->room - 1);
	return &map->entries[i];
}

static void grow(struct map *map)
{
	struct map bigger = { .room = map->room ? 2 * map->room : SMALLEST };

	bigger.entries = xcalloc(bigger.room, sizeof(*bigger.entries));
	bigger.used = map->used;
	for (size_t i = 0; i < map->room; i++)
		if (map->entries[i].key)
			*find(&bigger, map->entries[i].key) = map->entries[i];
	free(map->entries);
	*map = bigger;
}

uint64_t *map_at(struct map *map, uint64_t key)
{
	struct map_entry *entry;

	if (2 * map->used >= map->room)
		grow(map);
	entry = find(map, key);
	if (!entry->key) {
		entry->key = key;
		map->used++;
	}
	return &entry->value;
}

void map_clear(struct map *map)
{
	if (map->used)
		memset(map->entries, 0, map->room * sizeof(*map->entries));
	map->used = 0;
}
