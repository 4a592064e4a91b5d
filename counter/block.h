/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inserts the counting code into translated blocks. Callers serialise all
 * calls.
 */
#ifndef QUIRE_BLOCK_H
#define QUIRE_BLOCK_H

#include "decode.h"
#include "qemu_plugin_api.h"
#include "tally.h"

/* Set once, before the first block. */
struct block_plan {
	const struct target *target;
	struct fixed_cells fixed;
	qemu_plugin_vcpu_udata_cb_t on_marker;	/* udata: the payload */
	qemu_plugin_vcpu_udata_cb_t on_symbol;	/* udata: the struct symbol */
	qemu_plugin_vcpu_udata_cb_t on_block;	/* of each block, or NULL */
};

/* Calls on_marker when one of the block's markers executes. */
void block_watch(const struct block_plan *plan, struct qemu_plugin_tb *tb);

/*
 * The same, and counts every other instruction. Calls on_symbol before the
 * first instruction of a symbol that begins or ends a span.
 */
void block_count(const struct block_plan *plan, struct qemu_plugin_tb *tb);

#endif
