// SPDX-License-Identifier: GPL-2.0
/* Ranges of folios between guards, and how to change their state. */
#include <sys/mman.h>

#include "memory/folio.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "proc/proc.h"
#include "process/cpu.h"
#include "process/map.h"
#include "report/expectation.h"

#define GUARD_PAGES	BLOCK
#define MAX_GUARDS	16

static struct guard {
	char *addr;
	uint64_t seed;
} guards[MAX_GUARDS];
static size_t nr_guards;

void must_fit(size_t len)
{
	if (!fits_memory(len))
		SKIP("%zu MiB are more than a third of the memory", len / MIB);
}

size_t range_pages(unsigned long kib)
{
	size_t folio = folio_pages(kib);

	if (folio >= PMD_PAGES / 2)
		return 2 * folio;
	return folio <= BLOCK ? 4 * BLOCK : 4 * folio;
}

/*
 * Shared memory, so that the guard cannot merge with a neighbouring VMA or
 * share its folios.
 */
static void add_guard(char *addr)
{
	struct guard *guard = &guards[nr_guards];

	if (nr_guards++ == MAX_GUARDS)
		die("more than %d guards in one case: raise MAX_GUARDS",
		    MAX_GUARDS);
	guard->addr = map_or_die(addr, GUARD_PAGES * PAGE_SIZE,
				 PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS |
				 MAP_FIXED_NOREPLACE, -1, 0);
	guard->seed = 0x9a4d0000ul + (uintptr_t)addr / PAGE_SIZE;
	pattern_write(addr, GUARD_PAGES * PAGE_SIZE, guard->seed);
}

void expect_guards(void)
{
	size_t i;

	for (i = 0; i < nr_guards; i++)
		if (pattern_verify(guards[i].addr, GUARD_PAGES * PAGE_SIZE,
				   guards[i].seed) >= 0)
			EXPECT(false, "a neighbour of the range, %p, was changed",
			       guards[i].addr);
}

void range_split_pmd(char *addr)
{
	/*
	 * A VMA that ends inside a huge PMD splits the PMD; then merge the
	 * VMAs.
	 */
	if (madvise(addr, PAGE_SIZE, MADV_DONTFORK) ||
	    madvise(addr, PAGE_SIZE, MADV_DOFORK))
		die_errno("madvise of one page at %p", addr);
}

void range_split_pmds(char *at, size_t pages)
{
	size_t n;

	for (n = 0; n < pages; n += PMD_PAGES)
		range_split_pmd(page_at(at, n));
	if (folio_pmd_mapped_kib(at))
		die("%lu KiB at %p are still mapped by PMD",
		    folio_pmd_mapped_kib(at), at);
}

void range_protect(char *at, size_t pages, int prot)
{
	if (mprotect(at, pages * PAGE_SIZE, prot))
		die_errno("mprotect of %zu pages at %p", pages, at);
}

void range_advise(char *at, size_t pages, int advice)
{
	if (madvise(at, pages * PAGE_SIZE, advice))
		die_errno("madvise %d of %zu pages at %p", advice, pages, at);
}

void range_unlock(char *at, size_t pages)
{
	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock of %zu pages at %p", pages, at);
}

/* Guards are in pairs: the one before a range, then the one after it. */
void range_drop(char *at, size_t pages)
{
	char *first = at - GUARD_PAGES * PAGE_SIZE;
	size_t i;

	expect_guards();
	for (i = 0; i < nr_guards && guards[i].addr != first; i++)
		;
	if (i == nr_guards)
		die("no range between guards starts at %p", at);
	unmap(first, (pages + 2 * GUARD_PAGES) * PAGE_SIZE);
	nr_guards -= 2;
	guards[i] = guards[nr_guards];
	guards[i + 1] = guards[nr_guards + 1];
}

char *range_hole(char *at, size_t pages)
{
	probe_init();
	stay_on_cpu(0);
	add_guard(at - GUARD_PAGES * PAGE_SIZE);
	add_guard(page_at(at, pages));
	return at;
}

char *range_filled(char *at, size_t pages, unsigned long kib)
{
	must_fit(pages * PAGE_SIZE);
	range_hole(at, pages);
	folio_map_filled(at, pages * PAGE_SIZE, kib, SEED);
	folio_want(PAGE_KIB);
	return at;
}

void range_assert_pmds(char *at, size_t pages)
{
	ASSERT(folio_pmd_mapped_kib(at) == pages * PAGE_SIZE / KIB,
	       "only %lu KiB are mapped by PMD", folio_pmd_mapped_kib(at));
}

char *range_by_pmds(size_t folios)
{
	size_t pages = folios * PMD_PAGES;
	char *at;

	must_fit(2 * PMD_SIZE);
	at = range_filled(SRC_BASE, pages, PMD_SIZE / KIB);
	range_assert_pmds(at, pages);
	return at;
}

char *range_of(unsigned long kib, bool by_pte)
{
	char *at = range_filled(SRC_BASE, range_pages(kib), kib);

	if (by_pte && kib * KIB == PMD_SIZE)
		range_split_pmds(at, range_pages(kib));
	return at;
}

char *range_by_ptes(unsigned long kib)
{
	return range_of(kib, true);
}

char *range_shared(char *at, size_t pages, unsigned long kib)
{
	must_fit(pages * PAGE_SIZE);
	range_hole(at, pages);
	folio_want_shmem(kib);
	map_or_die(at, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pattern_write(at, pages * PAGE_SIZE, SEED);
	return at;
}

void range_fill(char *at, size_t pages, unsigned long kib, uint64_t seed)
{
	folio_want(kib);
	pattern_write(at, pages * PAGE_SIZE, seed);
	folio_want(PAGE_KIB);
}

void move_full(char *from, size_t pages, size_t new_pages, int flags, char *to)
{
	void *at = mremap(from, pages * PAGE_SIZE, new_pages * PAGE_SIZE,
			  MREMAP_MAYMOVE | MREMAP_FIXED | flags, to);

	if (at == MAP_FAILED)
		die_errno("mremap of %zu pages from %p to %p", pages, from, to);
	if (at != to)
		die("mremap went to %p, not to %p", at, to);
}

void move(char *from, size_t pages, char *to)
{
	move_full(from, pages, pages, 0, to);
}
