/* SPDX-License-Identifier: GPL-2.0 */
/* The rows that this program was built with: a line "name|unit|words" each. */
#ifndef QUIRE_TIME_PLAN_H
#define QUIRE_TIME_PLAN_H

#include <stddef.h>

#include "time/row.h"

#define MOST_ROWS 512u

/* The rows of which a pattern names one, or all without patterns. */
size_t plan_rows(struct row_plan *rows, char *const *patterns, size_t nr);
/* What this program was built from. */
extern const char plan_build[];

#endif
