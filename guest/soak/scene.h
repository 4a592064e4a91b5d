/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scene that a parent prepares and then plays for a child: a folio of which
 * the child inherits only a part, so that its PTEs differ.
 */
#ifndef QUIRE_SOAK_SCENE_H
#define QUIRE_SOAK_SCENE_H

#include "memory/hold.h"
#include "range.h"

struct scene {
	struct range *range;	/* NULL: nothing was prepared */
	struct run run;
	struct run part;	/* of the run: not inherited */
	struct hold hold;	/* of one page of it, or of none */
	bool holding;
};

/* Chooses and prepares a scene; needs the mutexes of all ranges. */
void scene_set(struct actor *self, struct scene *scene);
/* After the fork: in the parent, and in the child. */
void scene_forked(const struct scene *scene);
void scene_inherited(struct scene *scene);
/*
 * What the parent does to the folio while the child checks its own pages.
 * Reclaim must take nearly everything to reach folios that both have.
 */
void scene_play(struct actor *self, struct scene *scene);

#endif
