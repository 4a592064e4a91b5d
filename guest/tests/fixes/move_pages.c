// SPDX-License-Identifier: GPL-2.0
/* What move_pages() says of the pages of folios that it moves. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/die.h"
#include "tests/migrate/migrate.h"

/* The order of the pages in the list: of one folio after the other, or mixed. */
enum order { BY_FOLIO, IN_TURN, NR_ORDERS };

static size_t listed(enum order order, size_t i, size_t pages, size_t nr)
{
	size_t folios = pages / nr;

	return order == BY_FOLIO ? i : i % folios * nr + i / folios;
}

static void check_status(unsigned long kib, bool by_pte, enum order order)
{
	static void *addrs[2 * MOST_PMD_PAGES];
	static int nodes[2 * MOST_PMD_PAGES], status[2 * MOST_PMD_PAGES];
	size_t n, pages = range_pages(kib), nr = folio_pages(kib);
	char *at = range_of(kib, by_pte);
	int node = !node_of(at);
	long left;

	for (n = 0; n < pages; n++) {
		addrs[n] = page_at(at, listed(order, n, pages, nr));
		nodes[n] = node;
		status[n] = -EINPROGRESS;
	}
	left = syscall(SYS_move_pages, 0, pages, addrs, nodes, status,
		       MPOL_MF_MOVE_ALL);
	EXPECT_EQ(left, 0);
	for (n = 0; n < pages; n++) {
		EXPECT(status[n] == node, "entry %zu of the list: status %d", n,
		       status[n]);
		EXPECT_EQ(node_of(addrs[n]), node);
	}
	expect_content(at, pages, SEED, 0);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES_TAGGED(fixes, move_pages_status, FIXES, LARGE_SIZES)
{
	enum order order;

	needs_nodes();
	for_each_mapping(by_pte, kib) {
		for (order = 0; order < NR_ORDERS; order++)
			check_status(kib, by_pte, order);
	}
}
