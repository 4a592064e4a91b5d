// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "kernel/lru_gen.h"
#include "kernel/memcg.h"
#include "proc/knob.h"
#include "report/die.h"

#define ENABLED		"/sys/kernel/mm/lru_gen/enabled"
#define GENERATIONS	"/sys/kernel/debug/lru_gen"

struct youngest {
	unsigned long long cgroup;	/* its ID has 64 bits on every architecture */
	unsigned long generation;
};

void lru_gen_enable(bool on)
{
	write_file(ENABLED, on ? "y" : "n");
}

/*
 * The file has "memcg ID PATH" for each cgroup, " node NODE" for each node of
 * it, and then a line for each generation. It begins with the generation's
 * number; the youngest is last.
 */
static struct youngest find_youngest(const char *path)
{
	FILE *f = fopen(GENERATIONS, "re");
	struct youngest found = { 0, 0 };
	unsigned long long id;
	unsigned long number;
	char line[512], name[256];
	bool ours = false;

	if (!f)
		die_errno("cannot open " GENERATIONS);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "memcg %llu %255s", &id, name) == 2) {
			ours = !strcmp(name, path);
			if (ours)
				found.cgroup = id;
		} else if (sscanf(line, " node %lu", &number) == 1) {
			ours = ours && !number;
		} else if (ours && sscanf(line, "%lu", &number) == 1) {
			found.generation = number;
		}
	}
	fclose(f);
	if (!found.cgroup || !found.generation)
		die(GENERATIONS " has no generation of %s", path);
	return found;
}

void lru_gen_age(void)
{
	struct youngest now = find_youngest(memcg_path());

	write_file(GENERATIONS, "+ %llu 0 %lu", now.cgroup, now.generation);
	if (find_youngest(memcg_path()).generation != now.generation + 1)
		die(GENERATIONS " has no new generation of %s", memcg_path());
}
