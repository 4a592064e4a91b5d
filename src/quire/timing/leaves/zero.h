/* SPDX-License-Identifier: GPL-2.0 */
/* What is_folio_zero_filled() uses: a folio is a page here. It is asked before swap-out. */
#ifndef ZERO_H
#define ZERO_H

#include <stddef.h>

#include "leaf.h"

#define BUILD_BUG_ON(what) _Static_assert(!(what), #what)

struct folio {
	char *memory;
};

static bool is_folio_zero_filled(struct folio *folio);

static inline unsigned int folio_nr_pages(const struct folio *folio)
{
	(void)folio;
	return 1;
}

static inline void *kmap_local_folio(const struct folio *folio, size_t offset)
{
	return folio->memory + offset;
}

static inline void kunmap_local(const void *address)
{
	(void)address;
}

static inline bool leaf(void *page)
{
	struct folio folio = { page };

	return is_folio_zero_filled(&folio);
}

#endif
