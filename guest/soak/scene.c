// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>

#include "ops.h"
#include "page.h"
#include "scene.h"
#include "system.h"

/* About as much as the cgroup has: other threads swap in what they use. */
#define MOST	"8M"

/* A folio with an extra reference stays in the swap cache. */
static void hold_one(struct actor *self, struct scene *scene)
{
	const struct run *run = &scene->run;

	scene->hold = hold_start();
	scene->holding = true;
	hold_page(&scene->hold, run->addr + below(self, run->count) * PAGE_SIZE);
	run_page_out(scene->range, run->first, run->count);
}

static void let_go(struct scene *scene)
{
	if (scene->holding)
		hold_end(&scene->hold);
}

/* All of the run is fresh, or lazily freed, or unchanged. */
static void prepare(struct actor *self, struct scene *scene)
{
	struct range *range = &us.range[below(self, NR_RANGES)];
	size_t size = one_in(self, 3) ? 16 : common->folio_pages;
	struct run run = run_at(range, below(self, range->pages) / size * size,
				size);
	size_t taken;

	if (range->type != ANON || run.state & SPECIAL)
		return;
	taken = pages_take(range, run.first, run.count);
	if (taken == run.count && !one_in(self, 3)) {
		run_refill(range, &run);
		if (one_in(self, 2))
			run_free(self, range, &run);
	}
	pages_release(range, run.first, taken);
	scene->range = range;
	scene->run = run;
	if (one_in(self, 4))
		hold_one(self, scene);
}

/* The first pages of the run, the last ones, or some in the middle. */
static void keep_part(struct actor *self, struct scene *scene)
{
	const struct run *run = &scene->run;
	struct run *part = &scene->part;

	if (!scene->range || run->count == 1)
		return;
	*part = *run;
	if (one_in(self, 2))
		part->first += below(self, run->count);
	part->count = 1 + below(self, run->first + run->count - part->first);
	part->addr = place(scene->range, run->state, part->first);
	if (madvise(part->addr, run_bytes(part), MADV_DONTFORK))
		refused(scene->range, part->first, "MADV_DONTFORK");
}

void scene_set(struct actor *self, struct scene *scene)
{
	prepare(self, scene);
	keep_part(self, scene);
}

void scene_forked(const struct scene *scene)
{
	const struct run *part = &scene->part;

	if (part->count && madvise(part->addr, run_bytes(part), MADV_DOFORK))
		refused(scene->range, part->first, "MADV_DOFORK");
}

void scene_inherited(struct scene *scene)
{
	if (scene->part.count)
		where_change(scene->range, scene->part.first,
			     scene->part.count, ABSENT, 0);
	let_go(scene);
}

void scene_play(struct actor *self, struct scene *scene)
{
	struct range *range = scene->range;
	const struct run *run = &scene->run;
	bool sealed = one_in(self, 2) &&
		      run_seal(range, run->first, run->count);
	unsigned int n;

	if (one_in(self, sealed ? 2 : 4))
		cgroup_reclaim(MOST);
	else
		run_follow_up(self, range, run->first, run->count);
	if (sealed)
		run_unseal(range, run->first, run->count);
	for (n = 0; n < 4; n++)
		run_write_some(self, range, run->first, run->count);
	let_go(scene);
}
