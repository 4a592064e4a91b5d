// SPDX-License-Identifier: GPL-2.0
/* One content with more sharers than one stable node may have. */
#include "ksm.h"

#define LIMIT	4u
#define TWINS_NR 10u

/* Are both the same page, in memory or in swap? */
static bool same_page(const struct page_state *a, const struct page_state *b)
{
	return a->present == b->present && a->pfn == b->pfn &&
	       a->swapped == b->swapped && a->swap_offset == b->swap_offset;
}

/* The mappings of the same page as the first one. */
static struct mappings sharers(const struct mappings *all,
			       struct mappings *rest)
{
	struct page_state first = mapping_state(&all->at[0]), state;
	struct mappings same = { 0 };
	size_t i;

	rest->nr = 0;
	for (i = 0; i < all->nr; i++) {
		state = mapping_state(&all->at[i]);
		mappings_add(same_page(&first, &state) ? &same : rest,
			     all->at[i].who, all->at[i].addr);
	}
	return same;
}

/* Checks each merged page with its sharers; returns the number of pages. */
static unsigned int each_page(const struct mappings *all,
			      void (*check)(const struct mappings *same))
{
	struct mappings left = *all, rest, same;
	unsigned int pages = 0;

	for (; left.nr; left = rest, pages++) {
		same = sharers(&left, &rest);
		check(&same);
	}
	return pages;
}

static void within_limit(const struct mappings *same)
{
	EXPECT(same->nr <= LIMIT, "%zu sharers of a page, the limit is %u",
	       same->nr, LIMIT);
	EXPECT(mappings_merged(same), "a page is not merged");
}

/* A range page and ten twins, merged to several pages. */
static struct mappings crowd(enum range_kind kind)
{
	struct mappings all = { 0 };
	unsigned int n;

	ksm_set("max_page_sharing", LIMIT);
	mappings_add(&all, NULL, page_of(range_make(kind), MID));
	for (n = 0; n < TWINS_NR; n++)
		mappings_add(&all, NULL, twin_make(n));
	ksm_pass(4);
	EXPECT(each_page(&all, within_limit) >= 3,
	       "%zu mappings share fewer than 3 pages", all.nr);
	return all;
}

/* So that later cases can set the limit back. */
static void crowd_leaves(void)
{
	ksm_set("run", 2);
	ksm_set("max_page_sharing", 256);
}

KSM_CASES(beyond_max_page_sharing)
{
	struct mappings all = crowd(kind);

	each_page(&all, expect_reached);
	each_page(&all, expect_migrated);
	ksm_pass(2);
	each_page(&all, expect_reached);
	each_page(&all, mappings_swap_out);
	expect_same(&all);
	crowd_leaves();
}

/* Forked mappings may exceed the limit; they must still be found. */
KSM_CASES(forks_beyond_max_page_sharing)
{
	struct mappings all = crowd(kind);

	mappings_add_fork(&all, NULL, worker_fork(NULL));
	each_page(&all, expect_reached);
	ksm_pass(3);
	each_page(&all, expect_reached);
	each_page(&all, expect_migrated);
	each_page(&all, mappings_swap_out);
	expect_same(&all);
	crowd_leaves();
}
