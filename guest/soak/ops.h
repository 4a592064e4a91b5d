/* SPDX-License-Identifier: GPL-2.0 */
/* What actors do. ops_page.c: to a page; ops_run.c: to a part of a range. */
#ifndef QUIRE_SOAK_OPS_H
#define QUIRE_SOAK_OPS_H

#include "soak.h"

typedef bool operation(struct actor *self, struct range *range);

operation do_read, do_read_many, do_write, do_write_common, do_write_zero;
operation do_look_elsewhere, do_hold;
operation do_fill, do_drop, do_lazyfree, do_page_out, do_reclaim, do_map_again;
operation do_renew;
operation do_protect, do_lock, do_mergeable, do_watch;
operation do_move, do_move_keep;

/* ops_move.c: mremap() what of a run can be moved at once; returns the pages. */
size_t move_run(struct range *range, const struct run *run, int flags);

#endif
