// SPDX-License-Identifier: GPL-2.0
/* Ranges: where their pages are in this process. */
#include <sys/mman.h>

#include "range.h"
#include "soak.h"

/*
 * Two homes for each range, one GiB apart, or 64 MiB. The second is shifted against the
 * first by some pages, so that folios are aligned differently to batches of
 * PTEs and to page tables, and some cross the end of a table.
 */
#define BASE	PLACE(0x2000000000, 0x40000000)
#define APART	(NARROW ? 64 * MIB : GIB)

static const struct {
	enum range_type type;
	size_t pages;
	long shift;		/* below 0: before the end of a table */
	bool mergeable;		/* at first */
} plans[NR_RANGES] = {
	{ ANON, 512, 0, false },	/* moves by whole tables */
	{ ANON, 512, 16, false },
	{ ANON, 256, 5, true },
	{ ANON, 128, -64, true },	/* lies in two tables there */
	{ ANON, 64, 3, false },
	{ FILE_PRIVATE, 128, 9, true },
	{ SHMEM, 256, -16, false },
};

static void map(struct range *range, const struct run *run)
{
	int flags = MAP_FIXED_NOREPLACE | MAP_NORESERVE;
	int prot = PROT_READ;

	if (range->type == SHMEM)
		flags |= MAP_SHARED;
	else if (range->type == FILE_PRIVATE)
		flags |= MAP_PRIVATE;
	else
		flags |= MAP_PRIVATE | MAP_ANONYMOUS;
	if (!(run->state & SEALED))
		prot |= PROT_WRITE;
	if (mmap(run->addr, run->count * PAGE_SIZE, prot, flags, range->fd,
		 range->fd < 0 ? 0 : run->first * PAGE_SIZE) == MAP_FAILED)
		refused(range, run->first, "mmap");
}

void range_map(struct range *range, const struct run *run)
{
	map(range, run);
	if (range->mergeable && madvise(run->addr, run->count * PAGE_SIZE,
					MADV_MERGEABLE))
		refused(range, run->first, "MADV_MERGEABLE");
}

char *range_home(unsigned int number, unsigned int which)
{
	char *home = BASE + (2 * number + which) * APART;
	long shift = plans[number].shift;

	if (!which)
		return home;
	shift += shift < 0 ? (long)(PMD_SIZE / PAGE_SIZE) : 0;
	return home + shift * PAGE_SIZE;
}

void range_create(struct range *range, unsigned int number, struct model *model,
		int fd)
{
	struct run all;

	range->type = plans[number].type;
	range->number = number;
	range->pages = plans[number].pages;
	range->home[0] = range_home(number, 0);
	range->home[1] = range_home(number, 1);
	range->fd = range->type == ANON ? -1 : fd;
	range->mergeable = plans[number].mergeable;
	range->model = model;
	pthread_mutex_init(&range->layout, NULL);
	all = run_at(range, 0, range->pages);
	range_map(range, &all);
}

size_t range_pages_planned(unsigned int number)
{
	return plans[number].pages;
}

enum range_type range_type_planned(unsigned int number)
{
	return plans[number].type;
}

void ranges_lock(void)
{
	size_t i;

	for (i = 0; i < NR_RANGES; i++)
		pthread_mutex_lock(&us.range[i].layout);
}

void ranges_unlock(void)
{
	size_t i;

	for (i = NR_RANGES; i--;)
		pthread_mutex_unlock(&us.range[i].layout);
}

void where_change(struct range *range, size_t first, size_t count,
		  uint32_t set, uint32_t clear)
{
	for (; count; first++, count--)
		__atomic_store_n(&range->where[first],
				 ((range->where[first] & ~clear) | set) +
				 WHERE_STEP, __ATOMIC_SEQ_CST);
}

struct run run_at(const struct range *range, size_t first, size_t most)
{
	uint32_t state = where(range, first) & WHERE_STATE;
	size_t n = 1;

	while (n < most && first + n < range->pages &&
	       (where(range, first + n) & WHERE_STATE) == state)
		n++;
	return (struct run){
		.first = first,
		.count = n,
		.state = state,
		.addr = place(range, state, first),
	};
}

/* One that reads half of it gets a usable run, too. */
void range_is_fresh(struct range *range, size_t first, size_t count)
{
	__atomic_store_n(&range->fresh, first, __ATOMIC_RELAXED);
	__atomic_store_n(&range->nr_fresh, count, __ATOMIC_RELAXED);
}

struct run run_somewhere(struct actor *self, const struct range *range)
{
	static const size_t sizes[] = { 1, 4, 16, 16, 16, 32, 64, 128, 512 };
	size_t size = sizes[below(self, ARRAY_SIZE(sizes))];
	size_t first = below(self, range->pages);

	switch (below(self, 4)) {
	case 0:		/* whatever */
		return run_at(range, first, 1 + below(self, 40));
	case 1:
		size = __atomic_load_n(&range->nr_fresh, __ATOMIC_RELAXED);
		if (size)
			return run_at(range, __atomic_load_n(&range->fresh,
							     __ATOMIC_RELAXED),
				      size);
		size = 1;
		/* fallthrough */
	default:	/* whole folios of some size */
		return run_at(range, first / size * size, size);
	}
}
