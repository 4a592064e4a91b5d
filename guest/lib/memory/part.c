// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <sys/mman.h>

#include "memory/expect.h"
#include "memory/part.h"
#include "memory/probe.h"
#include "memory/range.h"

/*
 * Limit the size: hundreds of mappings of one page take long to set up, and
 * show nothing that smaller folios do not.
 */
#define MANY_PAGES	64u

static const struct part parts[] = {
	{ "MADV_DONTDUMP", MADV_DONTDUMP, -1, false },
	{ "MADV_SEQUENTIAL", MADV_SEQUENTIAL, -1, false },
	{ "PROT_READ", -1, PROT_READ, false },
	{ "PROT_NONE", -1, PROT_NONE, false },
	{ "MADV_DONTNEED", MADV_DONTNEED, -1, true },
	{ "munmap", -1, -1, true },
};

static bool every_other(const struct mask *mask, unsigned long kib)
{
	return masked(mask, 0, kib) != masked(mask, 1, kib) &&
	       masked(mask, 1, kib) != masked(mask, 2, kib);
}

void for_each_part(unsigned long kib,
		   void (*check)(unsigned long kib, const struct mask *mask,
				 const struct part *part))
{
	size_t i, j;

	for (j = 0; j < ARRAY_SIZE(parts); j++) {
		/* The last mask has all pages. */
		for (i = 0; i < NR_MASKS - 1; i++) {
			if (folio_pages(kib) <= MANY_PAGES || !every_other(&masks[i], kib))
				check(kib, &masks[i], &parts[j]);
		}
	}
}

static void give(char *addr, size_t pages, const struct part *part)
{
	size_t len = pages * PAGE_SIZE;
	int err;

	if (part->advice >= 0)
		err = madvise(addr, len, part->advice);
	else if (part->prot >= 0)
		err = mprotect(addr, len, part->prot);
	else
		err = munmap(addr, len);
	if (err)
		die_errno("%s of %zu pages at %p", part->name, pages, addr);
}

void part_give(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask, const struct part *part)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run)
		give(page_at(addr, n), run, part);
}

void expect_part(char *addr, size_t pages, unsigned long kib,
		 const struct mask *mask, const struct part *part)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < pages; n++) {
		bool in = masked(mask, n, kib);

		if (in && part->gone)
			continue;
		EXPECT(!!probe_read(page_at(addr, n), &word) ==
		       (in && part->prot == PROT_NONE),
		       "page %zu, %s of %s pages: a read is wrong", n,
		       part->name, mask->name);
		EXPECT(!!probe_write(page_at(addr, n), word) ==
		       (in && part->prot >= 0),
		       "page %zu, %s of %s pages: a write is wrong", n,
		       part->name, mask->name);
		if (!in || part->prot != PROT_NONE)
			expect_content(page_at(addr, n), 1, SEED, n);
	}
}
