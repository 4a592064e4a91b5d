/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of the idle-page bitmap (idle.h) that have bits of a range. Words
 * that follow each other are written or read by one call.
 */
#ifndef QUIRE_IDLE_RANGE_H
#define QUIRE_IDLE_RANGE_H

#include <stddef.h>

struct idle_range;

/* For the pages from addr on, which are present and stay where they are. */
struct idle_range *idle_range_open(const void *addr, size_t pages);
/* Marks all pages idle. */
void idle_range_mark(const struct idle_range *range);
/* Reads the bits of all pages; idle_range_count() says how many are idle. */
void idle_range_look(struct idle_range *range);
size_t idle_range_count(const struct idle_range *range);
void idle_range_close(struct idle_range *range);

#endif
