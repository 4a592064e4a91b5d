// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/folio.h"
#include "migrate.h"
#include "report/die.h"

void needs_nodes(void)
{
	if (access("/sys/devices/system/node/node1", F_OK))
		SKIP("this machine has one memory node");
}

static long move_pages_of(pid_t pid, size_t pages, void **addrs,
			  const int *nodes, int *status)
{
	return syscall(SYS_move_pages, pid, pages, addrs, nodes, status,
		       MPOL_MF_MOVE_ALL);
}

int node_of(const void *addr)
{
	void *addrs[] = { (void *)addr };
	int status = -EIO;

	if (move_pages_of(0, 1, addrs, NULL, &status))
		die_errno("cannot ask for the node of %p", addr);
	return status;
}

void move_to_node(pid_t pid, char *at, size_t pages, int node)
{
	void **addrs = calloc(pages, sizeof(*addrs));
	int *nodes = calloc(pages, sizeof(*nodes));
	int *status = calloc(pages, sizeof(*status));
	size_t n;

	if (!addrs || !nodes || !status)
		die("no memory for lists of %zu pages", pages);
	for (n = 0; n < pages; n++) {
		addrs[n] = page_at(at, n);
		nodes[n] = node;
	}
	if (move_pages_of(pid, pages, addrs, nodes, status) < 0 &&
	    errno != ENOENT)
		die_errno("move_pages of %zu pages at %p", pages, at);
	free(addrs);
	free(nodes);
	free(status);
}

void migrate(char *at, size_t pages)
{
	int node = !node_of(at);
	size_t n;

	move_to_node(0, at, pages, node);
	for (n = 0; n < pages; n++) {
		int is = node_of(page_at(at, n));

		EXPECT(is == node || is == -ENOENT || is == -EFAULT,
		       "page %zu is on node %d, not %d", n, is, node);
	}
}

void migrate_fast(char *at, size_t pages, unsigned long kib)
{
	static void *addrs[2 * PMD_PAGES];
	static int nodes[2 * PMD_PAGES], status[2 * PMD_PAGES];
	int node = !node_of(at);
	size_t n, nr = 0;

	for (n = 0; n < pages && nr < ARRAY_SIZE(nodes); n += folio_pages(kib)) {
		addrs[nr] = page_at(at, n);
		nodes[nr++] = node;
	}
	/* Into the TLB */
	for (n = 0; n < pages; n++)
		*(volatile char *)page_at(at, n) += 1;
	if (move_pages_of(0, nr, addrs, nodes, status))
		die_errno("move_pages of %zu folios at %p", nr, at);
}

char *migrate_range(unsigned long kib, bool by_pte)
{
	size_t pages = range_pages(kib);
	char *at = range_filled(SRC_BASE, pages, kib);

	if (by_pte && kib * KIB == PMD_SIZE)
		range_split_pmds(at, pages);
	return at;
}

void expect_same_bits(const struct snapshot *before, const char *at)
{
	struct snapshot *now = snapshot(at, before->pages);
	size_t n;

	for (n = 0; n < before->pages; n++) {
		const struct page_state *was = &before->page[n];
		const struct page_state *is = &now->page[n];

		EXPECT(is->present == was->present &&
		       is->swapped == was->swapped &&
		       is->file == was->file &&
		       is->soft_dirty == was->soft_dirty &&
		       is->uffd_wp == was->uffd_wp &&
		       is->exclusive == was->exclusive,
		       "page %zu: %#llx became %#llx", n,
		       (unsigned long long)was->raw,
		       (unsigned long long)is->raw);
		EXPECT(!was->present || is->pfn != was->pfn,
		       "page %zu did not move", n);
	}
	free(now);
}

void expect_folios(const char *at, size_t pages, unsigned long kib)
{
	size_t total;

	EXPECT_EQ(folio_count(at, pages * PAGE_SIZE, kib, &total), total);
}
