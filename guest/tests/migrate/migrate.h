/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the migrate cases. move_pages() moves folios between two memory
 * nodes: their entries become migration entries, and later entries of the new
 * folio, both in runs. All else of each page stays as it was.
 */
#ifndef QUIRE_TESTS_MIGRATE_H
#define QUIRE_TESTS_MIGRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernel/nodes.h"
#include "tests/matrix/trial.h"

/* Moves what is mapped there to the node. Some folios may stay. */
void move_to_node(pid_t pid, char *at, size_t pages, int node);
/* Moves all folios of a range to the other node. */
void migrate(char *at, size_t pages);

/*
 * The same in one call, one address for each folio, and without a look at the
 * result.
 */
void migrate_fast(char *at, size_t pages, unsigned long kib);

/* No folio of the range was split. */
void expect_folios(const char *at, size_t pages, unsigned long kib);

/* Another process that moves a range of this one to and fro. */
struct mover {
	pid_t pid;
	bool *end;	/* shared */
};

struct mover mover_start(char *at, size_t pages);
void mover_end(struct mover *mover);

#endif
