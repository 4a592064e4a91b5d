// SPDX-License-Identifier: GPL-2.0
#include <sys/auxv.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "base/units.h"
#include "memory/range.h"
#include "memory/tags.h"
#include "report/expectation.h"

#define GRANULE	16ul

/*
 * Never 0, which untagged memory has. All of a page have the same: QEMU before
 * 8.0 does not tell them apart.
 */
static unsigned long tag_of(size_t page)
{
	return 1 + page % 15;
}

void needs_tags(void)
{
	if (!(getauxval(AT_HWCAP2) & ARCH_HAS_TAGS))
		SKIP("this CPU has no memory tags");
}

void tags_set(char *at, size_t pages)
{
	size_t n, granule;

	range_protect(at, pages, PROT_READ | PROT_WRITE | ARCH_PROT_TAGS);
	for (n = 0; n < pages; n++)
		for (granule = 0; granule < PAGE_SIZE / GRANULE; granule++)
			arch_set_tag(page_at(at, n) + granule * GRANULE,
				     tag_of(n));
}

void expect_tags(const char *at, size_t pages)
{
	size_t n, granule, wrong;

	for (n = 0; n < pages; n++) {
		wrong = 0;
		for (granule = 0; granule < PAGE_SIZE / GRANULE; granule++)
			wrong += arch_tag(at + n * PAGE_SIZE +
					  granule * GRANULE) !=
				 tag_of(n);
		EXPECT(!wrong, "page %zu: %zu tags are wrong", n, wrong);
	}
}
