// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <unistd.h>

#include "kernel/swap.h"
#include "report/die.h"
#include "tests/matrix/trial.h"

void start_swap(void)
{
	swap_on(SWAP_FOR_TESTS);
}

const struct ground plain = { .range = range_of };
const struct ground with_swap = { .start = start_swap, .range = range_of };
const struct ground on_nodes = { .needs = needs_nodes, .range = range_of };
const struct ground charged = { .range = range_charged };
const struct ground charged_with_swap = {
	.start = start_swap, .range = range_charged,
};

void trial_begin(struct trial *t, char *at, size_t pages)
{
	t->at = at;
	t->pages = pages;
	t->place[0].at = at;
	t->place[0].pages = pages;
	t->places = 1;
	t->uffd = -1;
}

void trial_end(struct trial *t)
{
	if (t->watch)
		uffd_watch_end(t->watch);
	if (t->uffd >= 0)
		close(t->uffd);
	while (t->places--)
		range_drop(t->place[t->places].at, t->place[t->places].pages);
	free(t->before);
}

char *trial_hole(struct trial *t, char *to)
{
	if (t->places == ARRAY_SIZE(t->place))
		die("a range has been at %u places", t->places);
	t->place[t->places].at = range_hole(to, t->pages);
	t->place[t->places++].pages = t->pages;
	return to;
}

char *trial_goes(struct trial *t, char *to)
{
	t->at = trial_hole(t, to);
	return to;
}

size_t trial_holds(struct trial *t, size_t index)
{
	t->hold = hold_folios(t->at, t->pages, t->kib, index);
	return t->hold.held * folio_pages(t->kib);
}

static struct {
	struct trial trial;
	void (*run)(struct trial *t);
} divided;

static void run_part(unsigned long kib __attribute__((unused)),
		     const struct mask *mask, const struct part *part)
{
	struct trial trial = divided.trial;

	trial.mask = mask;
	trial.part = part;
	divided.run(&trial);
}

static void run_with(struct trial trial, const struct mask *mask,
		     void (*run)(struct trial *t))
{
	trial.mask = mask;
	run(&trial);
}

void trials_each(struct trial trial, unsigned int differ, void (*run)(struct trial *t))
{
	divided.trial = trial;
	divided.run = run;
	if (differ & PARTS)
		for_each_part(trial.kib, run_part);
	else if (!(differ & (MASKS | NONE_TOO | PLACES)))
		run_with(trial, MASK_ALL, run);
	if (differ & NONE_TOO)
		run_with(trial, &mask_none, run);
	for_each_mask(mask) {
		if (differ & MASKS || (differ & PLACES && mask <= MASK_MIDDLE))
			run_with(trial, mask, run);
	}
}

static const struct ground *used;
static void (*used_by)(struct trial *t);

static void run_on_ground(struct trial *t)
{
	trial_begin(t, used->range(t->kib, t->by_pte), range_pages(t->kib));
	used_by(t);
	trial_end(t);
}

void trials_run(const struct ground *ground, unsigned int differ, unsigned long kib,
		void (*run)(struct trial *t))
{
	struct trial trial = { .kib = kib, .unit = kib };

	used = ground;
	used_by = run;
	if (ground->needs)
		ground->needs();
	if (ground->start)
		ground->start();
	do {
		for_each_mapping(by_pte, kib) {
			trial.by_pte = by_pte;
			if (by_pte || differ & MAPPINGS)
				trials_each(trial, differ, run_on_ground);
		}
	} while (++trial.how < NR_HOW && differ & HOWS);
	if (ground->end)
		ground->end();
}
