/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock functions, and how often each function of the kernel calls them
 * directly. Callers serialise all calls.
 */
#ifndef QUIRE_LOCKS_H
#define QUIRE_LOCKS_H

#include <stdio.h>

#include "qemu_plugin_api.h"
#include "symbols.h"
#include "tally.h"

/* Reads the functions' names. Returns false after a complaint. */
bool locks_load(const char *path);

/*
 * Counts each execution of @insn, a branch of @caller to @target, if that is
 * the beginning of a lock function. @caller may be NULL.
 */
void locks_count(struct qemu_plugin_insn *insn, struct symbol *caller,
		 uint64_t target);

/*
 * Counts each execution of @insn in @caller, which takes a spin lock, unless
 * @caller is a lock function itself. It may be NULL.
 */
void locks_count_inlined(struct qemu_plugin_insn *insn, struct symbol *caller);

/* Writes a "lock" line for each pair of functions that is not zero. */
void locks_write(FILE *out, unsigned int id, const struct tally *tally);

#endif
