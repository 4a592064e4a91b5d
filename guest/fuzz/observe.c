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

/* A read of all that was asked for; of a text, there may be less. */
static void check_read(const struct call *call, bool text)
{
	if (call->result < 0 || (!text && call->result != (long)call->arg[2]))
		die("cannot read a file of /proc: %ld", call->result);
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

/* The flags of the frames of some pages, read as one window. */
struct look {
	struct window window;
	unsigned int slot, first, end;
	const uint64_t *flag;
};

/* Looks that are made at once, and how much of arena->window they take. */
static struct {
	struct look look[MAX_CALLS];
	unsigned int nr;
	size_t used;
} looks;

static void make_looks(void)
{
	const struct look *look;
	unsigned int page;

	calls_make(arena->call, looks.nr);
	for (look = looks.look; look < looks.look + looks.nr; look++) {
		check_read(&arena->call[look - looks.look], false);
		for (page = look->first; page < look->end; page++) {
			uint64_t pfn = PM_PFN(arena->word[look->slot][page]);

			arena->flag[look->slot][page] =
				look->flag[pfn - look->window.first];
		}
	}
	looks.nr = looks.used = 0;
}

static void add_look(struct look look)
{
	if (looks.nr == MAX_CALLS ||
	    looks.used + look.window.count > ARRAY_SIZE(arena->window))
		make_looks();
	look.flag = arena->window + looks.used;
	arena->call[looks.nr] = proc_call(PROC_FLAGS, arena->window + looks.used,
					  look.window.count * sizeof(*look.flag),
					  look.window.first * sizeof(*look.flag));
	looks.look[looks.nr++] = look;
	looks.used += look.window.count;
}

/* The flags of a slot's page frames; one read for frames close to each other. */
static void add_looks(unsigned int slot, unsigned int pages)
{
	const uint64_t *word = arena->word[slot];
	unsigned int i, end;

	for (i = 0; i < pages; i = end) {
		struct look look = { .slot = slot, .first = i };

		end = i + 1;
		if (!(word[i] & PM_PRESENT))
			continue;
		look.window = (struct window){ PM_PFN(word[i]), 1 };
		while (end < pages && word[end] & PM_PRESENT &&
		       widen(&look.window, PM_PFN(word[end]), end + 1 - i))
			end++;
		look.end = end;
		add_look(look);
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

static void say_pages(unsigned int slot, const char *at, unsigned int pages)
{
	struct run run = { 0 };
	unsigned int i;

	for (i = 0; i < pages; i++, at += PAGE_SIZE) {
		struct run page = {
			.count = 1,
			.state = state_of(arena->word[slot][i],
					  arena->flag[slot][i]),
		};

		if (arena->word[slot][i] & PM_PRESENT)
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

/* Before they are read: an old page is a page fault under UML. */
static void touch_present(unsigned int slot, const char *at, unsigned int pages)
{
	unsigned int i, end;

	for (i = 0; i < pages; i = end + 1) {
		for (end = i; end < pages && arena->word[slot][end] & PM_PRESENT;)
			end++;
		content_touch(at + i * PAGE_SIZE, end - i, false);
	}
}

static void observe_pages(const struct actor *self, unsigned int slot,
			  struct extent extent)
{
	const char *first = page_addr(slot, extent.first);
	unsigned int pages = extent.end - extent.first;
	size_t start = arena->len;

	if (is_old(slot))
		touch_present(slot, first, pages);
	say_text("m ");
	say_number(self->id);
	say_bytes((char[]){ ' ', 'A' + slot, ' ' }, 3);
	say_number(extent.first);
	say_pages(slot, first, pages);
	say_text("\n");
	say_state(start, PAGES, self->id, slot);
}

/*
 * "VmLck: 16 kB" and other fields that are always exact (RSS counters are not), as
 * with pages of 4 KiB.
 */
static void observe_status(const struct actor *self, size_t len)
{
	static const char *const fields[] = { "VmLck", "VmPin", "VmPTE" };
	char *text = arena->status;
	size_t start = arena->len, i;

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

/* Reads the states of all slots' pages, as pagemap has them, behind other calls. */
static unsigned int add_pagemaps(const struct program *program, unsigned int nr)
{
	unsigned int slot;

	for (slot = 0; slot < MAX_SLOTS; slot++) {
		struct extent extent = program->extent[slot];
		uintptr_t first = (uintptr_t)page_addr(slot, extent.first);
		size_t size = sizeof(*arena->word[slot]);

		if (extent.end)
			arena->call[nr++] = proc_call(
				PROC_PAGEMAP, arena->word[slot],
				(extent.end - extent.first) * size,
				first / PAGE_SIZE * size);
	}
	return nr;
}

void observe(const struct actor *self, const struct program *program)
{
	unsigned int slot, nr, i;

	arena->call[0] = smaps_call();
	arena->call[1] = proc_call(PROC_STATUS, arena->status, STATUS_SIZE - 1, 0);
	nr = add_pagemaps(program, 2);
	calls_make(arena->call, nr);
	for (i = 0; i < nr; i++)
		check_read(&arena->call[i], i < 2);
	observe_mappings(self, program, arena->call[0].result);
	observe_status(self, arena->call[1].result);
	for (slot = 0; slot < MAX_SLOTS; slot++)
		add_looks(slot, program->extent[slot].end -
				program->extent[slot].first);
	make_looks();
	for (slot = 0; slot < MAX_SLOTS; slot++) {
		if (program->extent[slot].end)
			observe_pages(self, slot, program->extent[slot]);
	}
}
