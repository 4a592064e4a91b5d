// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "proc/proc.h"
#include "process/map.h"
#include "report/die.h"

#define THP_DIR		"/sys/kernel/mm/transparent_hugepage"
#define SCAN_MS		10u
#define MAX_PAGES	(PMD_SIZE / PAGE_SIZE)

bool folio_size_valid(unsigned long kib)
{
	return kib == PAGE_KIB || (kib >= 4 * PAGE_KIB && kib <= PMD_KIB &&
				   !(kib & (kib - 1)));
}

unsigned long folio_size(unsigned long kib)
{
	unsigned long pages = kib / 4, half = PMD_KIB / 2;

	if (kib == 2048)
		return PMD_KIB;
	if (pages < 16)
		return pages * PAGE_KIB;
	return pages / 16 * BLOCK_KIB < half ? pages / 16 * BLOCK_KIB : half;
}

/* The policy of folios of PMD_SIZE when others are wanted. */
static const char *pmd_unwanted = "never";

/*
 * Sets one policy file of every size: "always" for kib, `pmd` for
 * PMD_SIZE, "never" for the rest.
 */
static void want(unsigned long kib, const char *file, const char *pmd)
{
	DIR *dir = opendir(THP_DIR);
	struct dirent *entry;
	bool found = kib == PAGE_KIB;

	if (!folio_size_valid(kib))
		die("%lu KiB is no folio size: %zu, %zu, %zu, ... %zu", kib,
		    PAGE_KIB, 4 * PAGE_KIB, 8 * PAGE_KIB, PMD_KIB);
	if (!dir)
		die_errno("cannot open " THP_DIR);
	while ((entry = readdir(dir))) {
		const char *policy;
		unsigned long size;
		char path[400];

		if (sscanf(entry->d_name, "hugepages-%lukB", &size) != 1)
			continue;
		snprintf(path, sizeof(path), THP_DIR "/%s/%s", entry->d_name,
			 file);
		policy = size == kib ? "always" :
			 size * KIB == PMD_SIZE ? pmd : "never";
		if (!try_write_file(path, policy) &&
		    (size == kib || errno != ENOENT))
			die_errno("cannot write %s", path);
		found |= size == kib;
	}
	closedir(dir);
	if (!found)
		die("this kernel has no %lu KiB folios in " THP_DIR, kib);
}

void folio_want(unsigned long kib)
{
	want(kib, "enabled", pmd_unwanted);
}

void folio_want_shmem(unsigned long kib)
{
	want(kib, "shmem_enabled", "never");
}

void folio_quiet_khugepaged(void)
{
	pmd_unwanted = "madvise";
	folio_want(PMD_SIZE / KIB);
	/* The first process that maps so much wakes it up. */
	unmap(map_anon(folio_hole(PMD_SIZE), PMD_SIZE), PMD_SIZE);
	sleep_ms(SCAN_MS);
	folio_want(PAGE_KIB);
}

char *folio_hole(size_t len)
{
	size_t span = ALIGN_UP(len, PMD_SIZE) + PMD_SIZE;
	char *p = map_or_die(NULL, span, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	unmap(p, span);
	return (char *)ALIGN_UP((uintptr_t)p, PMD_SIZE);
}

char *folio_map(void *at, size_t len, unsigned long kib)
{
	folio_want(kib);
	return map_anon(at ? at : folio_hole(len), len);
}

char *folio_map_filled(void *at, size_t len, unsigned long kib,
		       unsigned long seed)
{
	size_t ok, total, tries = 2;
	char *p = at;

	for (;;) {
		p = folio_map(p, len, kib);
		pattern_write(p, len, seed);
		ok = folio_count(p, len, kib, &total);
		if (ok == total)
			return p;
		if (!--tries)
			die("only %zu of %zu blocks at %p are folios of %lu KiB",
			    ok, total, p, kib);
		/* What was freed page by page lies on the lists of CPUs. */
		unmap(p, len);
		write_file("/proc/sys/vm/compact_memory", "1");
	}
}

/* Is pfn the head of a folio of exactly nr pages? nr 1: not a large folio. */
static bool pfn_starts_folio(uint64_t pfn, size_t nr)
{
	const uint64_t compound = KPF_COMPOUND_HEAD | KPF_COMPOUND_TAIL;
	uint64_t flags[MAX_PAGES];
	size_t i;

	if (nr == 1)
		return !(kpage_flags(pfn) & compound);
	if (pfn % nr)
		return false;
	kpage_flags_range(pfn, nr, flags);
	if ((flags[0] & compound) != KPF_COMPOUND_HEAD)
		return false;
	for (i = 1; i < nr; i++) {
		if ((flags[i] & compound) != KPF_COMPOUND_TAIL)
			return false;
	}
	/*
	 * A naturally aligned folio ends at its size, so it is no longer than
	 * that.
	 */
	return pfn / nr % 2 || !(kpage_flags(pfn + nr) & KPF_COMPOUND_TAIL);
}

/* `states` are those of the pages of a block. */
static bool states_are_folio(const struct page_state *state, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!state[i].present || state[i].pfn != state[0].pfn + i)
			return false;
	}
	return pfn_starts_folio(state[0].pfn, nr);
}

bool folio_is_size(const void *addr, unsigned long kib)
{
	size_t total;

	return (uintptr_t)addr % (kib * KIB) == 0 &&
	       folio_count(addr, kib * KIB, kib, &total) == 1;
}

size_t folio_count(const void *addr, size_t len, unsigned long kib,
		   size_t *total)
{
	size_t pages = len / PAGE_SIZE, nr = kib * KIB / PAGE_SIZE, ok = 0;
	struct page_state state[MAX_PAGES];
	size_t done, chunk, i;

	*total = pages / nr;
	pages = *total * nr;
	for (done = 0; done < pages; done += chunk) {
		chunk = pages - done < MAX_PAGES ? pages - done : MAX_PAGES;
		pagemap_read((const char *)addr + done * PAGE_SIZE, chunk,
			     state);
		for (i = 0; i < chunk; i += nr)
			ok += states_are_folio(state + i, nr);
	}
	return ok;
}

unsigned long folio_pmd_mapped_kib(const void *addr)
{
	return smaps_kib(addr, "AnonHugePages");
}
