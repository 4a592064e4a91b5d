// SPDX-License-Identifier: GPL-2.0
/*
 * PAGEMAP_SCAN: which pages were written to since the last scan, and protecting
 * those; or only a look at all pages.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/uapi.h"
#include "ops.h"
#include "report/die.h"

#define MAX_REGIONS	(2 * SLOT_PAGES)
#define ROOM_FOR_TEXT	160u

static const struct {
	char letter;
	uint64_t category;
} categories[] = {
	{ 'W', PAGE_IS_WRITTEN },
	{ 'A', PAGE_IS_WPALLOWED },
	{ 'p', PAGE_IS_PRESENT },
	{ 's', PAGE_IS_SWAPPED },
	{ 'd', PAGE_IS_SOFT_DIRTY },
	{ 'f', PAGE_IS_FILE },
	{ 'o', PAGE_IS_PFNZERO },
};

static uint64_t all_categories(void)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories); i++)
		all |= categories[i].category;
	return all;
}

/* The ways through the kernel's walk. */
static const struct kind {
	const char *word;
	bool protects;	/* what was written to, and reports that alone */
	bool states;	/* reports all about it */
	size_t room;	/* for regions; 0: reports nothing */
} kinds[] = {
	{ "look", .protects = false, .states = true, .room = MAX_REGIONS },
	{ "written", .protects = true, .states = false, .room = MAX_REGIONS },
	{ "states", .protects = true, .states = true, .room = MAX_REGIONS },
	{ "room", .protects = true, .states = false, .room = 1 },
	{ "quiet", .protects = true, .states = false, .room = 0 },
};

/* Opens the tracker, if there is none, and registers the range with it. */
static bool track(struct actor *self, const struct op *op)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_ASYNC |
			    UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP,
	};
	struct uffdio_register reg = {
		.range.start = (uintptr_t)op_range(op),
		.range.len = op_length(op),
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	if (self->tracker < 0)
		self->tracker = uffd_with(&api);
	return !ioctl(self->tracker, UFFDIO_REGISTER, &reg);
}

static unsigned int page_of(const struct op *op, uint64_t addr)
{
	return op->page + (addr - (uintptr_t)op_range(op)) / PAGE_SIZE;
}

/* Appends " FIRST+COUNT:LETTERS". */
static size_t region_text(char *text, size_t size, const struct op *op,
			  const struct page_region *region)
{
	size_t i, len = snprintf(text, size, " %u+%u:", page_of(op, region->start),
				 page_of(op, region->end) -
				 page_of(op, region->start));

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		if (region->categories & categories[i].category && len + 1 < size)
			text[len++] = categories[i].letter;
	}
	text[len] = '\0';
	return len;
}

/* Regions that find no room in the text are summed up. */
static struct outcome_text outcome_scanned(const struct op *op,
					   const struct pm_scan_arg *arg,
					   const struct page_region *region,
					   size_t nr)
{
	struct outcome_text outcome = outcome_fmt("end=%u",
						  page_of(op, arg->walk_end));
	size_t i, len = strlen(outcome.text);
	uint32_t rest = 0;
	char text[64];

	for (i = 0; i < nr; i++) {
		size_t more = region_text(text, sizeof(text), op, &region[i]);
		const char *c;

		if (!rest && len + more < ROOM_FOR_TEXT) {
			memcpy(outcome.text + len, text, more + 1);
			len += more;
			continue;
		}
		for (c = text; *c; c++)
			rest = (rest ^ *c) * 16777619u;
	}
	if (rest)
		snprintf(outcome.text + len, sizeof(outcome.text) - len,
			 " rest=%08x", rest);
	return outcome;
}

static struct outcome_text scan(const struct op *op, const struct kind *kind)
{
	struct page_region *regions = (struct page_region *)arena->scratch;
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.flags = kind->protects ? PM_SCAN_WP_MATCHING |
					  PM_SCAN_CHECK_WPASYNC : 0,
		.start = (uintptr_t)op_range(op),
		.end = (uintptr_t)op_range(op) + op_length(op),
		.max_pages = op->number,
		.vec = kind->room ? (uintptr_t)regions : 0,
		.vec_len = kind->room,
		.category_mask = kind->protects ? PAGE_IS_WRITTEN : 0,
		.return_mask = kind->states ? all_categories() : PAGE_IS_WRITTEN,
	};
	int nr = ioctl(proc_open(PROC_PAGEMAP), PAGEMAP_SCAN, &arg);

	_Static_assert(MAX_REGIONS * sizeof(*regions) <= SCRATCH_SIZE,
		       "the regions have room");
	if (nr < 0)
		return outcome_of(false);
	return outcome_scanned(op, &arg, regions, nr);
}

struct outcome_text verb_scan(struct actor *self, const struct op *op)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].word, op->word))
			continue;
		if (kinds[i].protects && !track(self, op))
			return outcome_of(false);
		return scan(op, &kinds[i]);
	}
	die_usage("there is no scan \"%s\"", op->word);
}
