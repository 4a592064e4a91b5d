// SPDX-License-Identifier: GPL-2.0
/*
 * The idle-page bitmap. A folio is idle if none of its pages was accessed by any
 * mapping since it was marked. The bit of its first page says so; the bits of
 * the others are always clear.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "aging.h"
#include "kernel/env.h"
#include "proc/idle.h"
#include "proc/idle_range.h"
#include "proc/pagemap.h"

/* The first page of a folio of the range, by number. */
static size_t folio_at(size_t folio, unsigned long kib)
{
	return folio * folio_pages(kib);
}

static size_t folios(unsigned long kib)
{
	return range_pages(kib) / folio_pages(kib);
}

static struct idle_bit bit_of(const char *at, size_t page)
{
	return idle_open(pagemap_page(at + page * PAGE_SIZE).pfn);
}

static void mark_page(const char *at, size_t page)
{
	struct idle_bit bit = bit_of(at, page);

	idle_set(&bit);
	close(bit.fd);
}

static bool page_is_idle(const char *at, size_t page)
{
	struct idle_bit bit = bit_of(at, page);
	bool idle = idle_get(&bit);

	close(bit.fd);
	return idle;
}

static void mark_folios(char *at, unsigned long kib)
{
	size_t n;

	for (n = 0; n < folios(kib); n++)
		mark_page(at, folio_at(n, kib));
	flush_range(at, range_pages(kib));
}

static void expect_idle(const char *at, unsigned long kib, size_t folio,
			bool idle, const char *what)
{
	size_t first = folio_at(folio, kib), nr = folio_pages(kib);

	EXPECT(page_is_idle(at, first) == idle, "%s: folio %zu is %sidle", what,
	       folio, idle ? "not " : "");
	if (nr > 1)
		EXPECT(!page_is_idle(at, first + nr - 1),
		       "%s: the last page of folio %zu is idle", what, folio);
}

static char *folios_range(unsigned long kib, bool by_pte)
{
	char *at = range_charged(kib, by_pte);

	env_drain_lru();
	return at;
}

static const struct ground idle_folios = { .range = folios_range };

/* Every second folio is accessed, at the pages in the mask. */
TRIAL_CASE(aging, idle, idle_folios, MASKS | MAPPINGS, ALL_SIZES)
{
	size_t n, nr = folio_pages(t->kib);

	mark_folios(t->at, t->kib);
	for (n = 0; n < folios(t->kib); n += 2)
		access_pages(page_at(t->at, folio_at(n, t->kib)), nr, t->kib,
			     t->mask);
	for (n = 0; n < folios(t->kib); n++)
		expect_idle(t->at, t->kib, n, n % 2, t->mask->name);
	/* The kernel remembers an access that a look has found. */
	for (n = 0; n < folios(t->kib); n++)
		expect_idle(t->at, t->kib, n, n % 2, t->mask->name);
}

/* The neighbours of a folio that is marked do not become idle. */
TRIAL_CASE(aging, idle_alone, idle_folios, MAPPINGS, ALL_SIZES)
{
	size_t n;

	for (n = 0; n < folios(t->kib); n += 2)
		mark_page(t->at, folio_at(n, t->kib));
	for (n = 0; n < folios(t->kib); n++)
		expect_idle(t->at, t->kib, n, n % 2 == 0, "alone");
}

/* All pages of many folios by one call, and the answers by another. */
TRIAL_CASE(aging, idle_words, idle_folios, MAPPINGS, ALL_SIZES)
{
	size_t n, nr = folio_pages(t->kib);
	struct idle_range *bits = idle_range_open(t->at, t->pages);

	idle_range_mark(bits);
	flush_range(t->at, t->pages);
	idle_range_look(bits);
	EXPECT_EQ(idle_range_count(bits), folios(t->kib));
	for (n = 0; n < t->pages; n += 2 * nr)
		*(volatile char *)page_at(t->at, n + nr / 2);
	idle_range_look(bits);
	EXPECT_EQ(idle_range_count(bits), folios(t->kib) / 2);
	idle_range_mark(bits);
	idle_range_look(bits);
	EXPECT_EQ(idle_range_count(bits), folios(t->kib));
	idle_range_close(bits);
}

/* The mapping of a folio ends in another vma: in the first page, in the middle, in the last. */
QUIRE_CASE_SIZES(aging, idle_two_vmas, LARGE_SIZES)
{
	size_t i, nr = folio_pages(kib), pages = range_pages(kib);
	const size_t cut[] = { 1, nr / 2, nr - 1 };

	for (i = 0; i < ARRAY_SIZE(cut); i++) {
		char *at = folios_range(kib, true);

		range_advise(at, cut[i], MADV_DONTFORK);
		mark_folios(at, kib);
		expect_idle(at, kib, 0, true, "untouched");
		*(volatile char *)page_at(at, cut[i] - 1);
		expect_idle(at, kib, 0, false, "accessed in the first vma");
		mark_folios(at, kib);
		expect_idle(at, kib, 0, true, "marked again");
		*(volatile char *)page_at(at, nr - 1);
		expect_idle(at, kib, 0, false, "accessed in the second vma");
		range_drop(at, pages);
	}
}

/* The parent marks and looks, the child accesses. */
TRIAL_CASE(aging, idle_of_child, idle_folios, MAPPINGS, ALL_SIZES)
{
	size_t n, nr = folio_pages(t->kib);

	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		flush_range(t->at, t->pages);
		for (n = 0; n < folios(t->kib); n += 2)
			*(volatile char *)page_at(t->at,
					folio_at(n, t->kib) + nr - 1);
		peer_go(&t->peer);
		peer_wait(&t->peer);
		peer_end(&t->peer);
	}
	mark_folios(t->at, t->kib);
	peer_turn(&t->peer);
	for (n = 0; n < folios(t->kib); n++)
		expect_idle(t->at, t->kib, n, n % 2, "by the child");
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that accesses pages");
}
