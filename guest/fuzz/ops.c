// SPDX-License-Identifier: GPL-2.0
/* The operations of an actor, and those on the actor itself. */
#include <unistd.h>

#include "ops.h"

static struct outcome_text verb_exit(struct actor *self __attribute__((unused)),
				     const struct op *op __attribute__((unused)))
{
	end_crowd();
	_exit(0);
}

static struct outcome_text verb_warm(struct actor *self,
				     const struct op *op __attribute__((unused)))
{
	self->warm = true;
	return outcome_ok();
}

static struct outcome_text verb_fail(struct actor *self, const struct op *op)
{
	self->fail_nth = op->number;
	return outcome_of(!access("/proc/self/fail-nth", W_OK));
}

const struct verb actor_verbs[] = {
	{ "map", "Rw", .act = verb_map },
	{ "unmap", "R", .act = verb_unmap },
	{ "write", "R", .act = verb_write },
	{ "same", "Rn", .act = verb_same },
	{ "word", "Rn", .act = verb_word },
	{ "read", "R", .act = verb_read },
	{ "fork", "n", .act = verb_fork },
	{ "exit", "", .act = verb_exit },
	{ "protect", "Rw", .act = verb_protect },
	{ "move", "RAw", .act = verb_move },
	{ "resize", "Rn", .act = verb_resize },
	{ "advise", "Rw", .act = verb_advise },
	{ "watch", "", .act = verb_watch },
	{ "wp", "R", .act = verb_wp },
	{ "unwp", "R", .act = verb_unwp },
	{ "rwp", "R", .act = verb_rwp },
	{ "unrwp", "R", .act = verb_unrwp },
	{ "unwatch", "R", .act = verb_unwatch },
	{ "take", "RAw", .act = verb_take },
	{ "scan", "Rnw", .act = verb_scan },
	{ "clear-refs", "n", .act = verb_clear_refs },
	{ "lock", "R", .act = verb_lock },
	{ "unlock", "R", .act = verb_unlock },
	{ "hold", "A", .act = verb_hold },
	{ "pin", "A", .act = verb_pin },
	{ "drop", "", .act = verb_drop },
	{ "crowd", "n", .act = verb_crowd },
	{ "split", "R", .act = verb_split },
	{ "idle", "R", .act = verb_idle, .ages = true },
	{ "look", "R", .act = verb_look },
	{ "migrate", "Rn", .act = verb_migrate },
	{ "hint", "", .act = verb_hint },
	{ "offline", "A", .act = verb_offline },
	{ "warm", "", .act = verb_warm, .setting = true },
	{ "fail", "n", .act = verb_fail, .setting = true },
	{ .name = NULL },
};
