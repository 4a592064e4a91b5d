// SPDX-License-Identifier: GPL-2.0
/*
 * hugetlb pages are not swapped, but try_to_unmap() takes them from all
 * processes when their memory fails. Then each access raises SIGBUS. They
 * migrate as other folios do.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/pattern.h"
#include "memory/poison.h"
#include "memory/probe.h"
#include "proc/knob.h"
#include "proc/proc.h"
#include "tests/migrate/migrate.h"

#define POOL	"/proc/sys/vm/nr_hugepages"
#define PAGES	2ul	/* of PMD_SIZE */

static char *range_huge(size_t len, int flags)
{
	if (access(POOL, F_OK))
		SKIP("this kernel has no hugetlb pages");
	must_fit(2 * PAGES * PMD_SIZE);
	write_file(POOL, "%lu", 2 * PAGES);
	ASSERT(read_number(POOL) == 2 * PAGES, "there are no free huge pages");
	if (mmap(SRC_BASE, len, PROT_READ | PROT_WRITE,
		 MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_HUGETLB | flags, -1,
		 0) != SRC_BASE)
		die_errno("mmap of %zu MiB of huge pages", len / MIB);
	pattern_write(SRC_BASE, PAGES * PMD_SIZE, SEED);
	probe_init();
	return SRC_BASE;
}

static void range_gone(char *at, size_t len)
{
	munmap(at, len);
	write_file(POOL, "0");
}

/* The first huge page is gone, all of it; the second one is as it was. */
static void expect_first_gone(char *at)
{
	uint64_t word;
	size_t n;

	for (n = 0; n < PMD_PAGES; n += PMD_PAGES / 4)
		EXPECT_EQ(probe_read(page_at(at, n), &word), SIGBUS);
	expect_content(pmd_at(at, 1), PMD_PAGES, SEED, PMD_PAGES);
}

/* Both processes map the range. Returns by how many KiB this one's part fell. */
static unsigned long check(char *at)
{
	unsigned long before;
	struct peer peer;

	poison_or_skip();
	if (!peer_fork(&peer)) {
		expect_content(at, PAGES * PMD_PAGES, SEED, 0);
		peer_turn(&peer);
		expect_first_gone(at);
		peer_end(&peer);
	}
	peer_wait(&peer);
	before = status_kib("HugetlbPages");
	EXPECT(poison_page(at), "the huge page cannot be poisoned");
	before -= status_kib("HugetlbPages");
	expect_first_gone(at);
	peer_turn(&peer);
	peer_join(&peer, "the other process");
	return before;
}

QUIRE_CASE(swapout, hugetlb_poisoned)
{
	char *at = range_huge(PAGES * PMD_SIZE, MAP_PRIVATE);

	EXPECT_EQ(check(at) * KIB, PMD_SIZE);
	range_gone(at, PAGES * PMD_SIZE);
}

QUIRE_CASE(swapout, hugetlb_shared_poisoned)
{
	char *at = range_huge(PAGES * PMD_SIZE, MAP_SHARED);

	EXPECT_EQ(check(at) * KIB, PMD_SIZE);
	range_gone(at, PAGES * PMD_SIZE);
}

/* So large that the processes share the page table: it goes as a whole. */
QUIRE_CASE(swapout, hugetlb_table_poisoned)
{
	char *at = range_huge(GIB, MAP_SHARED | MAP_NORESERVE);

	check(at);
	range_gone(at, GIB);
}

QUIRE_CASE(migrate, hugetlb)
{
	size_t i, n, pages = PAGES * PMD_PAGES;
	char *at;

	needs_nodes();
	at = range_huge(PAGES * PMD_SIZE, MAP_PRIVATE);
	for (i = 0; i < 4; i++) {
		int node = !node_of(at);

		for (n = 0; n < PAGES; n++) {
			move_to_node(0, pmd_at(at, n), 1, node);
			EXPECT_EQ(node_of(pmd_at(at, n)), node);
		}
		expect_content(at, pages, SEED, 0);
	}
	range_gone(at, PAGES * PMD_SIZE);
}
