// SPDX-License-Identifier: GPL-2.0
/*
 * What an actor observes of its memory: its mappings (smaps.c), its counters,
 * then a line for the pages of each slot (pagemap, kpageflags, contents).
 *
 * The order matters: smaps reports accessed bits, which reading the pages sets.
 * Only present pages are read, because a read would fault others in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "proc/pagemap.h"
#include "report/die.h"

/* The states of a slot's pages, as pagemap has them. */
static void read_pagemap(const char *first, size_t pages)
{
	ssize_t size = pages * sizeof(*arena->word);
	off_t at = (uintptr_t)first / PAGE_SIZE * sizeof(*arena->word);

	if (pread(proc_open(PROC_PAGEMAP), arena->word, size, at) != size)
		die_errno("cannot read the pagemap of %p", first);
}

#define PM_PRESENT	(1ull << 63)
#define PM_SWAPPED	(1ull << 62)
#define PM_FILE		(1ull << 61)
#define PM_UFFD_WP	(1ull << 57)
#define PM_EXCLUSIVE	(1ull << 56)
#define PM_SOFT_DIRTY	(1ull << 55)
#define PM_PFN(word)	((word) & ((1ull << 55) - 1))

/* Page frames from `first` on. */
struct window {
	uint64_t first, count;
};

/*
 * Adds a page frame, if the gap to it is not much larger than the frames that
 * we want.
 */
static bool widen(struct window *window, uint64_t pfn, unsigned int wanted)
{
	uint64_t first = pfn < window->first ? pfn : window->first;
	uint64_t end = window->first + window->count;

	if (pfn >= end)
		end = pfn + 1;
	if (end - first > 2 * wanted + NEARBY)
		return false;
	*window = (struct window){ first, end - first };
	return true;
}

/* The flags of the page frames; one read for frames close to each other. */
static void read_flags(unsigned int pages)
{
	unsigned int i, end;

	for (i = 0; i < pages; i = end) {
		struct window window = { PM_PFN(arena->word[i]), 1 };

		end = i + 1;
		if (!(arena->word[i] & PM_PRESENT))
			continue;
		while (end < pages && arena->word[end] & PM_PRESENT &&
		       widen(&window, PM_PFN(arena->word[end]), end + 1 - i))
			end++;
		kpage_flags_range(window.first, window.count, arena->window);
		for (; i < end; i++)
			arena->flag[i] = arena->window[PM_PFN(arena->word[i]) -
						       window.first];
	}
}

/* The state of a page: a bit for each of the letters that describe it. */
static const char letters[] = "p-sxdwfozL";

static unsigned int letter(char c)
{
	return 1u << (strchr(letters, c) - letters);
}

static unsigned int state_of(uint64_t word, uint64_t flag)
{
	unsigned int state = word & PM_PRESENT ? letter('p') :
			     word & PM_SWAPPED ? letter('s') : letter('-');

	if (!(word & PM_PRESENT))
		flag = 0;
	if (word & PM_EXCLUSIVE)
		state |= letter('x');
	if (word & PM_SOFT_DIRTY)
		state |= letter('d');
	if (word & PM_UFFD_WP)
		state |= letter('w');
	if (word & PM_FILE)
		state |= letter('f');
	if (flag & KPF_ZERO_PAGE)
		state |= letter('o');
	else if (flag & KPF_ANON && !(flag & KPF_SWAPBACKED))
		state |= letter('z');
	if (flag & (KPF_COMPOUND_HEAD | KPF_COMPOUND_TAIL))
		state |= letter('L');
	return state;
}

/* Consecutive pages with the same state and consecutive contents. */
struct run {
	unsigned int count;
	unsigned int state;
	struct content first;
};

static void say_run(const struct run *run)
{
	const char *c;

	say_text(" ");
	say_number(run->count);
	say_text("*");
	for (c = letters; *c; c++) {
		if (run->state & letter(*c))
			say_bytes(c, 1);
	}
	content_say(run->first);
}

/* What the next page of a run would hold. */
static struct content next_content(const struct run *run)
{
	struct content next = run->first;

	if (next.kind == TAGGED || next.kind == WORD)
		next.value += run->count;
	return next;
}

static bool continues(const struct run *run, const struct run *page)
{
	struct content next = next_content(run);

	return run->count && run->state == page->state &&
	       next.kind == page->first.kind &&
	       next.number == page->first.number &&
	       next.value == page->first.value;
}

static void say_pages(const char *at, unsigned int pages)
{
	struct run run = { 0 };
	unsigned int i;

	for (i = 0; i < pages; i++, at += PAGE_SIZE) {
		struct run page = {
			.count = 1,
			.state = state_of(arena->word[i], arena->flag[i]),
		};

		if (arena->word[i] & PM_PRESENT)
			page.first = content_read(at);
		if (continues(&run, &page)) {
			run.count++;
			continue;
		}
		if (run.count)
			say_run(&run);
		run = page;
	}
	say_run(&run);
}

static void observe_pages(const struct actor *self, unsigned int slot,
			  struct extent extent)
{
	const char *first = page_addr(slot, extent.first);
	unsigned int pages = extent.end - extent.first;
	size_t start = arena->len;

	read_pagemap(first, pages);
	read_flags(pages);
	say_text("m ");
	say_number(self->id);
	say_bytes((char[]){ ' ', 'A' + slot, ' ' }, 3);
	say_number(extent.first);
	say_pages(first, pages);
	say_text("\n");
	say_state(start, PAGES, self->id, slot);
}

/*
 * "VmLck: 16 kB" and other fields that are always exact (RSS counters are not), as
 * with pages of 4 KiB.
 */
static void observe_status(const struct actor *self)
{
	static const char *const fields[] = { "VmLck", "VmPin", "VmPTE" };
	char *text = arena->scratch;
	size_t start = arena->len, i;
	ssize_t len = pread(proc_open(PROC_STATUS), text, SCRATCH_SIZE - 1, 0);

	if (len < 0)
		die_errno("cannot read the status");
	text[len] = '\0';
	say_text("u ");
	say_number(self->id);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		text = strstr(text, fields[i]);
		if (!text)
			die("there is no %s in the status", fields[i]);
		say_text(" ");
		say_bytes(text, 5);
		say_text("=");
		say_number(strtoul(text + 6, NULL, 10) / PAGE_SCALE);
	}
	say_text("\n");
	say_state(start, COUNTERS, self->id, 0);
}

void observe(const struct actor *self, const struct program *program)
{
	unsigned int slot;

	observe_mappings(self, program);
	observe_status(self);
	for (slot = 0; slot < MAX_SLOTS; slot++) {
		if (program->extent[slot].end)
			observe_pages(self, slot, program->extent[slot]);
	}
}
