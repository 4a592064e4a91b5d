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
#include "process/peer.h"

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

/* Every second folio is accessed, at the pages in the mask. */
static void check_idle(unsigned long kib, bool by_pte, const struct mask *mask)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);
	char *at = folios_range(kib, by_pte);

	mark_folios(at, kib);
	for (n = 0; n < folios(kib); n += 2)
		access_pages(page_at(at, folio_at(n, kib)), nr, kib, mask);
	for (n = 0; n < folios(kib); n++)
		expect_idle(at, kib, n, n % 2, mask->name);
	/* The kernel remembers an access that a look has found. */
	for (n = 0; n < folios(kib); n++)
		expect_idle(at, kib, n, n % 2, mask->name);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(aging, idle, ALL_SIZES)
{
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_idle(kib, by_pte, mask);
	}
}

/* The neighbours of a folio that is marked do not become idle. */
QUIRE_CASE_SIZES(aging, idle_alone, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = folios_range(kib, by_pte);

		for (n = 0; n < folios(kib); n += 2)
			mark_page(at, folio_at(n, kib));
		for (n = 0; n < folios(kib); n++)
			expect_idle(at, kib, n, n % 2 == 0, "alone");
		range_drop(at, pages);
	}
}

/* All pages of many folios by one call, and the answers by another. */
QUIRE_CASE_SIZES(aging, idle_words, ALL_SIZES)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = folios_range(kib, by_pte);
		struct idle_range *bits = idle_range_open(at, pages);

		idle_range_mark(bits);
		flush_range(at, pages);
		idle_range_look(bits);
		EXPECT_EQ(idle_range_count(bits), folios(kib));
		for (n = 0; n < pages; n += 2 * nr)
			*(volatile char *)page_at(at, n + nr / 2);
		idle_range_look(bits);
		EXPECT_EQ(idle_range_count(bits), folios(kib) / 2);
		idle_range_mark(bits);
		idle_range_look(bits);
		EXPECT_EQ(idle_range_count(bits), folios(kib));
		idle_range_close(bits);
		range_drop(at, pages);
	}
}

/* The mapping of a folio ends in another vma: in the first page, in the middle, in the last. */
QUIRE_CASE_SIZES(aging, idle_two_vmas, LARGE_SIZES)
{
	size_t i, nr = folio_pages(kib), pages = range_pages(kib);
	const size_t cut[] = { 1, nr / 2, nr - 1 };

	for (i = 0; i < ARRAY_SIZE(cut); i++) {
		char *at = folios_range(kib, true);

		if (madvise(at, cut[i] * PAGE_SIZE, MADV_DONTFORK))
			die_errno("MADV_DONTFORK");
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
QUIRE_CASE_SIZES(aging, idle_of_child, ALL_SIZES)
{
	size_t n, nr = folio_pages(kib), pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = folios_range(kib, by_pte);
		struct peer peer;

		if (!peer_fork(&peer)) {
			peer_wait(&peer);
			flush_range(at, pages);
			for (n = 0; n < folios(kib); n += 2)
				*(volatile char *)page_at(at,
						folio_at(n, kib) + nr - 1);
			peer_go(&peer);
			peer_wait(&peer);
			peer_end(&peer);
		}
		mark_folios(at, kib);
		peer_turn(&peer);
		for (n = 0; n < folios(kib); n++)
			expect_idle(at, kib, n, n % 2, "by the child");
		peer_turn(&peer);
		peer_join(&peer, "the child that accesses pages");
		range_drop(at, pages);
	}
}
