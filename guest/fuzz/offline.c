// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is emptied, as when it is unplugged. Where memory of the boot can
 * go offline, a page's memory block does, and comes back. Elsewhere (arm64) the
 * kernel empties 32 MiB for a huge page, which is then freed.
 *
 * Memory with pages that cannot move, such as those reserved by the boot, stays
 * as it is. So it is used up before the first program. A block with a page that
 * somebody holds stays online, too, and the kernel warns of it: leave it alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "kernel/env.h"
#include "kernel/nodes.h"
#include "ops.h"
#include "proc/knob.h"
#include "proc/pagemap.h"
#include "process/map.h"
#include "report/die.h"

#define MEMORY		"/sys/devices/system/memory"
#define FOLIOS		"/sys/kernel/mm/transparent_hugepage"
#define GIGANTIC	"hugepages/hugepages-32768kB"
#define GIGANTIC_PAGES	(32 * MIB / PAGE_SIZE)
#define MOST_GIGANTIC	16u
#define MAX_BLOCKS	64u
#define MAX_UNITS	1024u
#define FLAGS_READ	1024u
#define KPF_RESERVED	(1ull << 32)
/* With a page that cannot move, the kernel tries until a signal arrives. */
#define LIMIT_MS	400
/* Less than a node has. */
#define MOST_BALLAST	(384 * MIB)
/* When so many can be emptied, the others are used up. */
#define ENOUGH		32u

/* Pages that are emptied as a whole: a memory block, or 32 MiB. */
static unsigned long unit;
/* By the frame number, in units. */
static bool clean[MAX_UNITS];

static bool have_gigantic(void)
{
	return !access("/sys/kernel/mm/" GIGANTIC, F_OK);
}

static const char *gigantic_path(int node)
{
	static char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/" GIGANTIC
		 "/nr_hugepages", node);
	return path;
}

static void gigantic_everywhere(unsigned int nr)
{
	write_file(gigantic_path(0), "%u", nr);
	if (nodes_two())
		write_file(gigantic_path(1), "%u", nr);
}

static bool none_reserved(uint64_t pfn)
{
	static uint64_t flags[FLAGS_READ];
	uint64_t end = pfn + unit;
	size_t i;

	for (; pfn < end; pfn += FLAGS_READ) {
		kpage_flags_range(pfn, FLAGS_READ, flags);
		for (i = 0; i < FLAGS_READ; i++) {
			if (flags[i] & KPF_RESERVED)
				return false;
		}
	}
	return true;
}

/* A memory block, and the name of its zone. */
static void look_at_block(uint64_t pfn, uint64_t end, const char *zone)
{
	for (; pfn < end && pfn / unit < MAX_UNITS; pfn += unit) {
		if (have_gigantic())
			clean[pfn / unit] = kpage_flags(pfn) & KPF_HUGE;
		else
			clean[pfn / unit] = !strncmp(zone, "Movable", 7) &&
					    none_reserved(pfn);
	}
}

/* Is there memory that can be emptied? */
static bool find_clean(void)
{
	char path[96], text[64];
	unsigned long block, pages;

	if (read_file(MEMORY "/block_size_bytes", text, sizeof(text)) < 0)
		die_errno("cannot read " MEMORY "/block_size_bytes");
	pages = strtoul(text, NULL, 16) / PAGE_SIZE;
	unit = have_gigantic() ? GIGANTIC_PAGES : pages;
	for (block = 0; block < MAX_BLOCKS; block++) {
		snprintf(path, sizeof(path), MEMORY "/memory%lu/valid_zones",
			 block);
		if (read_file(path, text, sizeof(text)) >= 0)
			look_at_block(block * pages, (block + 1) * pages, text);
	}
	return memchr(clean, true, sizeof(clean));
}

static bool is_clean(uint64_t pfn)
{
	return pfn / unit < MAX_UNITS && clean[pfn / unit];
}

/* Keeps pages of that size that are where nothing can be emptied. */
static void take_ballast(size_t size)
{
	char *at = map_anon(NULL, MOST_BALLAST), *end = at + MOST_BALLAST;
	char *spare[ENOUGH];
	size_t nr_spare = 0;

	at += -(uintptr_t)at % size;
	if (madvise(at, end - at, MADV_DONTFORK) ||
	    (size > PAGE_SIZE && madvise(at, end - at, MADV_HUGEPAGE)))
		die_errno("cannot prepare ballast");
	for (; nr_spare < ENOUGH && at + size <= end; at += size) {
		*(volatile char *)at = 1;
		if (is_clean(pagemap_page(at).pfn))
			spare[nr_spare++] = at;
	}
	while (nr_spare) {
		if (madvise(spare[--nr_spare], size, MADV_DONTNEED))
			die_errno("cannot drop what is no ballast");
	}
}

static void take_ballast_of(int node)
{
	nodes_allocate_from(node);
	take_ballast(PMD_SIZE);
	take_ballast(PAGE_SIZE);
	nodes_allocate_from(-1);
}

void offline_open(void)
{
	bool can_be_emptied;

	/* If nothing can be emptied, the operation does nothing. */
	unit = 1;
	if (!have_gigantic() && access(MEMORY "/block_size_bytes", F_OK))
		return;
	if (have_gigantic())
		gigantic_everywhere(MOST_GIGANTIC);
	can_be_emptied = find_clean();
	if (have_gigantic())
		gigantic_everywhere(0);
	if (!can_be_emptied)
		return;
	write_file(FOLIOS "/hugepages-2048kB/enabled", "madvise");
	take_ballast_of(0);
	if (nodes_two())
		take_ballast_of(1);
	write_file(FOLIOS "/hugepages-2048kB/enabled", "never");
}

/* Huge pages, until one takes the place of this page. */
static void allocate_gigantic(const char *page, uint64_t pfn)
{
	const char *path = gigantic_path(node_of(page));
	unsigned int nr = 0;

	do {
		write_file(path, "%u", ++nr);
	} while (nr < MOST_GIGANTIC && read_number(path) == nr &&
		 pagemap_page(page).pfn == pfn);
	write_file(path, "0");
}

static void take_offline(unsigned long block)
{
	struct itimerval limit = { .it_value.tv_usec = LIMIT_MS * 1000 };
	struct itimerval none = { 0 };
	char path[96];
	bool gone;

	snprintf(path, sizeof(path), MEMORY "/memory%lu/state", block);
	setitimer(ITIMER_REAL, &limit, NULL);
	gone = try_write_file(path, "offline");
	setitimer(ITIMER_REAL, &none, NULL);
	if (gone)
		write_file(path, "online_movable");
}

/*
 * What has moved is not compared: the page may be in memory of the other kind
 * on the other side.
 */
struct outcome_text verb_offline(struct actor *self __attribute__((unused)),
				 const struct op *op)
{
	const char *page = page_addr(op->to_slot, op->to_page);
	struct page_state state = pagemap_page(page);

	if (!state.present)
		return outcome_fmt("ENOENT");
	env_drain_lru();
	if (!is_clean(state.pfn))
		return outcome_ok();
	if (have_gigantic())
		allocate_gigantic(page, state.pfn);
	else if (!arena->keepers)
		take_offline(state.pfn / unit);
	return outcome_ok();
}
