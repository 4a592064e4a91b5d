/* SPDX-License-Identifier: GPL-2.0 */
/* Memory tags (MTE): each 16 bytes of a page have one, which goes with the page. */
#ifndef QUIRE_TAGS_H
#define QUIRE_TAGS_H

#include <stddef.h>

/* Skips the case on a CPU without memory tags. */
void needs_tags(void);
/* Gives the pages of an anonymous range tags, page by page other ones. */
void tags_set(char *at, size_t pages);
/* The pages have these tags. */
void expect_tags(const char *at, size_t pages);

#endif
