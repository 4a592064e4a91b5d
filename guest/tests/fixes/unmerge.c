// SPDX-License-Identifier: GPL-2.0
/*
 * KSM and pages that userfaultfd protects: merging and unmerging are no access
 * of user space. They are not stopped, and the protection stays. RWP protects
 * against any access, WP against writes.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/uapi.h"
#include "kernel/ksm.h"
#include "kernel/wp.h"
#include "memory/expect.h"
#include "memory/pattern.h"
#include "memory/probe.h"
#include "memory/range.h"
#include "proc/knob.h"
#include "run/ktap.h"

#define PAGES	4ul
#define KIB_ALL	(PAGES * PAGE_SIZE / KIB)

/* Sync: without a handler, an access raises SIGBUS. Async: it is let through. */
#define SYNC	(UFFD_FEATURE_RWP | UFFD_FEATURE_SIGBUS)
#define ASYNC	(UFFD_FEATURE_RWP | UFFD_FEATURE_RWP_ASYNC)

/* Pages that hold the same. */
static char *equal_pages(void)
{
	char *at = range_filled(SRC_BASE, PAGES, PAGE_KIB);
	size_t n;

	for (n = 1; n < PAGES; n++)
		pattern_write_page(page_at(at, n), SEED, 0);
	ksm_mergeable(at, PAGES * PAGE_SIZE);
	return at;
}

static void merge_all(char *at)
{
	size_t n;

	for (n = 1; n < PAGES; n++)
		ksm_merge(at, page_at(at, n));
}

static int rwp_protect(uint64_t features, char *at, const struct mask *mask)
{
	int uffd = uffd_open_or_skip(features);
	size_t n;

	uffd_register(uffd, at, PAGES * PAGE_SIZE, UFFDIO_REGISTER_MODE_RWP);
	for (n = 0; n < PAGES; n++) {
		if (masked(mask, n, KIB_ALL))
			uffd_rwprotect(uffd, page_at(at, n), PAGE_SIZE, true);
	}
	return uffd;
}

static void expect_marked(const char *at, const struct mask *mask)
{
	size_t n;

	for (n = 0; n < PAGES; n++)
		EXPECT(pagemap_page(at + n * PAGE_SIZE).uffd_wp ==
		       masked(mask, n, KIB_ALL),
		       "page %zu (protected: %s) has changed", n, mask->name);
}

/* Each page has its bit, and is accessible if and only if that is not set. */
static void expect_rwp(uint64_t features, char *at, const struct mask *mask)
{
	uint64_t word;
	size_t n;
	int sig;

	expect_marked(at, mask);
	probe_init();
	for (n = 0; n < PAGES; n++) {
		bool stops = features == SYNC && masked(mask, n, KIB_ALL);

		sig = probe_read(page_at(at, n), &word);
		EXPECT(sig == (stops ? SIGBUS : 0),
		       "page %zu (protected: %s): signal %d", n, mask->name,
		       sig);
	}
	expect_marked(at, features == SYNC ? mask : &mask_none);
}

static void expect_equal(char *at)
{
	size_t n;

	for (n = 0; n < PAGES; n++)
		EXPECT(pattern_verify_page(page_at(at, n), SEED, 0) < 0,
		       "page %zu has wrong contents", n);
}

static void expect_unmerged(char *at)
{
	struct page_state page;
	size_t n;

	EXPECT(!madvise(at, PAGES * PAGE_SIZE, MADV_UNMERGEABLE),
	       "MADV_UNMERGEABLE failed");
	for (n = 0; n < PAGES; n++) {
		page = pagemap_page(page_at(at, n));
		EXPECT(page.present && kpage_count(page.pfn) == 1 &&
		       !(kpage_flags(page.pfn) & KPF_KSM),
		       "page %zu is still merged", n);
	}
}

static void unmerge_rwp(uint64_t features, const struct mask *mask)
{
	char *at = equal_pages();
	int uffd;

	merge_all(at);
	uffd = rwp_protect(features, at, mask);
	expect_unmerged(at);
	expect_rwp(features, at, mask);
	uffd_rwprotect(uffd, at, PAGES * PAGE_SIZE, false);
	expect_equal(at);
	close(uffd);
}

QUIRE_CASE_TAGGED(fixes, unmerge_rwp, FIXES) { unmerge_rwp(SYNC, MASK_FIRST); }
QUIRE_CASE_CALL_TAGGED(fixes, unmerge_rwp_last, FIXES, unmerge_rwp(SYNC, MASK_LAST))
QUIRE_CASE_TAGGED(fixes, unmerge_rwp_all, FIXES) { unmerge_rwp(SYNC, MASK_ALL); }
QUIRE_CASE_CALL_TAGGED(fixes, unmerge_rwp_async, FIXES, unmerge_rwp(ASYNC, MASK_EVEN))

/* The same when ksmd is told to unmerge everything. */
QUIRE_CASE_TAGGED(fixes, unmerge_rwp_everything, FIXES)
{
	char *at = equal_pages();
	int uffd;

	merge_all(at);
	uffd = rwp_protect(SYNC, at, MASK_FIRST);
	write_file("/sys/kernel/mm/ksm/run", "2");
	expect_unmerged(at);
	expect_rwp(SYNC, at, MASK_FIRST);
	close(uffd);
}

static void merge_rwp(uint64_t features, const struct mask *mask)
{
	char *at = equal_pages();
	int uffd = rwp_protect(features, at, mask);

	merge_all(at);
	expect_rwp(features, at, mask);
	uffd_rwprotect(uffd, at, PAGES * PAGE_SIZE, false);
	expect_equal(at);
	expect_unmerged(at);
	close(uffd);
}

QUIRE_CASE_TAGGED(fixes, merge_keeps_rwp, FIXES) { merge_rwp(SYNC, MASK_ALL); }
QUIRE_CASE_CALL_TAGGED(fixes, merge_keeps_rwp_of_some, FIXES, merge_rwp(SYNC, MASK_LOW_HALF))
QUIRE_CASE_CALL_TAGGED(fixes, merge_keeps_rwp_async, FIXES, merge_rwp(ASYNC, MASK_ALL))

QUIRE_CASE(fixes, unmerge_keeps_wp)
{
	char *at = equal_pages();
	int uffd;

	merge_all(at);
	uffd = wp_protect(at, PAGES, KIB_ALL, MASK_EVEN);
	expect_unmerged(at);
	expect_marked(at, MASK_EVEN);
	expect_wp_stopped(uffd, at, PAGES, KIB_ALL, MASK_EVEN);
	close(uffd);
}
