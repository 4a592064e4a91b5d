/* SPDX-License-Identifier: GPL-2.0 */
/* Files that name functions of the guest's kernel, one a line. */
#ifndef QUIRE_NAMES_H
#define QUIRE_NAMES_H

#include <stdbool.h>

#include "symbols.h"

/*
 * Calls @take for each symbol that has a name in the file @path; the name is
 * not freed. Names that no symbol has are skipped, because kernels differ.
 * Returns false after a complaint about @argument: the file cannot be read, a
 * line is not one word, or no symbol has any of the names.
 */
bool names_load(const char *argument, const char *path,
		void (*take)(const char *name, struct symbol *sym));

#endif
