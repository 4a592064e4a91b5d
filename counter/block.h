/* SPDX-License-Identifier: GPL-2.0 */
/* What is put into a translated block. Callers serialise all calls. */
#ifndef QUIRE_BLOCK_H
#define QUIRE_BLOCK_H

#include "decode.h"
#include "regions.h"

/* Set once, before the first block. */
struct block_plan {
	const struct target *target;
	struct fixed_cells fixed;
	qemu_plugin_vcpu_udata_cb_t on_marker;	/* udata: the payload */
	qemu_plugin_vcpu_udata_cb_t on_symbol;	/* udata: the struct symbol */
};

/* Call on_marker when one of the block's markers executes. */
void block_watch(const struct block_plan *plan, struct qemu_plugin_tb *tb);

/*
 * The same, and count every other instruction. Call on_symbol before a symbol
 * that begins or ends a span is entered.
 */
void block_count(const struct block_plan *plan, struct qemu_plugin_tb *tb);

#endif
