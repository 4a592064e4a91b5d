// SPDX-License-Identifier: GPL-2.0
/* Single pages: their contents, and accesses that race with moves. */
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "memory/probe.h"
#include "page.h"
#include "range.h"
#include "soak.h"

bool page_take(struct range *range, size_t page)
{
	return !__atomic_exchange_n(&range->model->page[page].taken, 1,
				    __ATOMIC_ACQUIRE);
}

void page_release(struct range *range, size_t page)
{
	__atomic_store_n(&range->model->page[page].taken, 0, __ATOMIC_RELEASE);
}

size_t pages_take(struct range *range, size_t first, size_t count)
{
	size_t n;

	for (n = 0; n < count && page_take(range, first + n); n++)
		;
	return n;
}

void pages_release(struct range *range, size_t first, size_t count)
{
	while (count--)
		page_release(range, first++);
}

static void count_changes(struct range *range, size_t first, size_t count)
{
	for (; count; first++, count--)
		__atomic_add_fetch(&range->model->page[first].changes, 1,
				   __ATOMIC_SEQ_CST);
	/*
	 * A thread that reads a changed page must also see the change of
	 * `changes`.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void pages_change(struct range *range, size_t first, size_t count)
{
	count_changes(range, first, count);
}

void pages_changed(struct range *range, size_t first, size_t count)
{
	count_changes(range, first, count);
}

static void know(struct range *range, size_t page, uint64_t key)
{
	struct page *is = &range->model->page[page];

	__atomic_store_n(&is->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&is->lazy, false, __ATOMIC_RELAXED);
	is->unknown = false;
}

void pages_zero(struct range *range, size_t first, size_t count)
{
	for (; count; first++, count--)
		know(range, first, 0);
}

void pages_lazy(struct range *range, size_t first, size_t count)
{
	for (; count; first++, count--)
		__atomic_store_n(&range->model->page[first].lazy, true,
				 __ATOMIC_RELAXED);
}

struct access {
	void (*call)(void *arg);
	bool write;
	char *at;	/* the page's place */
	uint64_t key;
	uint64_t word;
	size_t wrong;
	bool dropped;	/* the wrong words are zero, up to the page's end */
	void *copy;
};

/* Was a fault of this access allowed? */
static bool excused(uint32_t before, uint32_t after, bool write)
{
	if (before != after || before & (MOVING | ABSENT))
		return true;
	return write && before & (SEALING | SEALED);
}

/*
 * Repeats an access until the page stays at its place during it. Returns false
 * for a write to a read-only page.
 */
static bool access_page(struct range *range, size_t page, struct access *access)
{
	const char *what = access->write ? "a write" : "a read";
	uint32_t before, after;
	int sig;

	do {
		before = where(range, page);
		access->at = place(range, before, page);
		sig = probe_call(access->call, access);
		after = where(range, page);
		if (!sig) {
			if (access->write && before & SEALED && before == after)
				violation(range, page, "a write to a page that "
					  "is read-only did not fault");
			return true;
		}
		if (!excused(before, after, access->write)) {
			violation(range, page, "%s raised signal %d (%s)", what,
				  sig, strsignal(sig));
			return false;
		}
		sched_yield();
	} while (!stopped() && !(before & SEALED && before == after));
	return false;
}

static void read_page(void *arg)
{
	struct access *access = arg;

	access->wrong = content_wrong(access->at, access->key);
	/* If the rest is zero, the page may have been dropped just now. */
	access->dropped = content_not_zero(access->at, access->wrong) ==
			  PAGE_WORDS;
}

static void write_page(void *arg)
{
	struct access *access = arg;

	content_fill(access->at, access->key);
}

static void copy_page(void *arg)
{
	struct access *access = arg;

	memcpy(access->copy, access->at, PAGE_SIZE);
}

/* Writes one word with the value that it has. */
static void rewrite_word(void *arg)
{
	struct access *access = arg;
	volatile uint64_t *word = (uint64_t *)access->at + access->wrong;

	*word = access->word;
}

static void report_content(struct range *range, size_t page, size_t wrong)
{
	static __thread uint64_t copy[MOST_PAGE_SIZE / sizeof(uint64_t)];
	struct page *is = &range->model->page[page];
	struct access access = { .call = copy_page, .copy = copy };
	char want[CONTENT_TEXT], got[CONTENT_TEXT] = "unreadable";

	key_text(is->key, want);
	if (access_page(range, page, &access))
		content_text(copy, got);
	violation(range, page, "word %zu is wrong: the page must hold %s%s, "
		  "it holds %s", wrong, want, is->lazy ? " (or zero)" : "",
		  got);
}

void page_verify(struct range *range, size_t page)
{
	struct page *is = &range->model->page[page];
	struct access access = { .call = read_page, .key = is->key };

	if (where(range, page) & ABSENT) {
		page_expect_absent(range, page);
		return;
	}
	if (!access_page(range, page, &access) || is->unknown ||
	    access.wrong == PAGE_WORDS)
		return;
	if (!is->lazy || !access.dropped) {
		report_content(range, page, access.wrong);
		return;
	}
	/* A dropped page stays zero. A child may be reading our model. */
	pages_change(range, page, 1);
	know(range, page, 0);
	pages_changed(range, page, 1);
}

uint64_t page_new_key(const struct range *range, size_t page)
{
	uint32_t generation = __atomic_add_fetch(&range->model->generation, 1,
						 __ATOMIC_RELAXED);

	return key_make(us.owner, range->number, page,
			generation & MAX_GENERATION);
}

/* A write that has begun is completed; pages are not read-only for long. */
bool page_write(struct range *range, size_t page, uint64_t key)
{
	struct access access = { .call = write_page, .write = true,
				 .key = key };

	if (where(range, page) & (SEALING | SEALED | ABSENT))
		return false;
	pages_change(range, page, 1);
	while (!access_page(range, page, &access) && !stopped())
		sched_yield();
	know(range, page, key);
	pages_changed(range, page, 1);
	return true;
}

void page_poke(struct range *range, size_t page)
{
	struct page *is = &range->model->page[page];
	struct access access = { .call = read_page, .key = is->key };

	/*
	 * The page could be dropped just now; the old word would then be wrong.
	 */
	if (is->lazy || is->unknown || where(range, page) & ABSENT)
		return;
	if (!access_page(range, page, &access) || access.wrong != PAGE_WORDS) {
		page_verify(range, page);
		return;
	}
	access.call = rewrite_word;
	access.write = true;
	access.wrong = page % PAGE_WORDS;
	access.word = content_word(is->key, access.wrong);
	access_page(range, page, &access);
}

static void expect_fault(struct range *range, size_t page, const char *at)
{
	uint64_t word;
	int sig = probe_read(at, &word);

	if (sig != SIGSEGV)
		violation(range, page, "%p can be read (%#llx), but no page is "
			  "there", at, (unsigned long long)word);
}

void page_expect_absent(struct range *range, size_t page)
{
	expect_fault(range, page, place(range, 0, page));
	expect_fault(range, page, place(range, AWAY, page));
}

void page_expect_nowhere_else(struct range *range, size_t page)
{
	expect_fault(range, page,
		     place(range, ~where(range, page), page));
}
