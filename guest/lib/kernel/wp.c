// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "kernel/uffd.h"
#include "kernel/uffd_watch.h"
#include "kernel/wp.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/range.h"

int wp_protect_with(uint64_t features, char *addr, size_t pages,
		    unsigned long kib, const struct mask *mask)
{
	int uffd = uffd_open(features);
	struct snapshot *now;
	size_t n;

	uffd_register_wp(uffd, addr, pages * PAGE_SIZE);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			uffd_writeprotect(uffd, page_at(addr, n), PAGE_SIZE,
					  true);
	}
	now = snapshot(addr, pages);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(now->page[n].uffd_wp, masked(mask, n, kib));
	free(now);
	return uffd;
}

int wp_protect(char *addr, size_t pages, unsigned long kib,
	       const struct mask *mask)
{
	return wp_protect_with(WP_FEATURES, addr, pages, kib, mask);
}

void expect_watch_stopped(struct uffd_watch *watch, char *addr, size_t pages,
			  unsigned long kib, const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++)
		pattern_write_page(page_at(addr, n), SEED_NEW, n);
	for (n = 0; n < pages; n++)
		EXPECT(uffd_watch_stopped(watch, n) == masked(mask, n, kib),
		       "page %zu (protected: %s): a write was %sstopped", n,
		       mask->name, uffd_watch_stopped(watch, n) ? "" : "not ");
	expect_content(addr, pages, SEED_NEW, 0);
}

void expect_wp_stopped(int uffd, char *addr, size_t pages, unsigned long kib,
		       const struct mask *mask)
{
	struct uffd_watch *watch = uffd_watch_start(uffd, addr, pages);

	expect_watch_stopped(watch, addr, pages, kib, mask);
	uffd_watch_end(watch);
}
