// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of operations. Weights add up to about a thousand. Most operations
 * are on one page; those on many pages are frequent enough that at least one is
 * usually running.
 */
#include <time.h>

#include "child.h"
#include "ops.h"

const struct kind kinds[] = {
	{ "read", 300, ON_ALL, 50000, do_read },
	{ "read many", 30, ON_ALL, 5000, do_read_many },
	{ "write", 300, ON_ALL, 50000, do_write },
	{ "write common", 110, ON_PRIVATE, 20000, do_write_common },
	{ "write zero", 20, ON_ALL, 2000, do_write_zero },
	{ "look elsewhere", 30, ON_ALL, 5000, do_look_elsewhere },
	{ "hold", 12, ON_ALL, 1000, do_hold },
	{ "fill", 20, ON_ALL, 1000, do_fill },
	{ "drop", 10, ON_ALL, 1000, do_drop },
	{ "lazyfree", 70, ON_ANON, 1000, do_lazyfree },
	{ "page out", 25, ON_ALL, 5000, do_page_out },
	{ "reclaim", 3, ON_ALL, 1000, do_reclaim },
	{ "move", 40, ON_ALL, 5000, do_move },
	{ "move keep", 15, ON_PRIVATE, 1000, do_move_keep },
	{ "map again", 5, ON_ALL, 1000, do_map_again },
	{ "renew", 4, ON_PRIVATE, 300, do_renew },
	{ "protect", 15, ON_ALL, 2000, do_protect },
	{ "lock", 8, ON_ALL, 1000, do_lock },
	{ "mergeable", 6, ON_PRIVATE, 1000, do_mergeable },
	{ "watch", 6, ON_ANON, 500, do_watch },
	{ "fork", 4, ON_ALL, 1000, child_fork },
};

const unsigned int nr_kinds = ARRAY_SIZE(kinds);

_Static_assert(ARRAY_SIZE(kinds) <= MAX_KINDS, "raise MAX_KINDS");

static const struct kind *choose(struct actor *self)
{
	unsigned int i, sum = 0;
	size_t at;

	for (i = 0; i < nr_kinds; i++)
		sum += kinds[i].weight;
	at = below(self, sum);
	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	return &kinds[i];
}

static void begin(struct actor *self, const struct range *range)
{
	struct doing *doing = &common->doing[self->seat];

	doing->what = self->kind->name;
	doing->range = range->number;
	doing->page = 0;
	doing->since = operations();
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void count(struct tally *tally, uint64_t ns)
{
	__atomic_add_fetch(&tally->done, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&tally->ns, ns, __ATOMIC_RELAXED);
	__atomic_add_fetch(&common->operations, 1, __ATOMIC_RELAXED);
}

void act(struct actor *self)
{
	struct range *range = &us.range[below(self, NR_RANGES)];
	uint64_t began;

	self->kind = choose(self);
	if (!(self->kind->ranges & 1u << range->type))
		return;
	begin(self, range);
	began = now_ns();
	if (self->kind->run(self, range))
		count(&common->tally[self->kind - kinds], now_ns() - began);
}
