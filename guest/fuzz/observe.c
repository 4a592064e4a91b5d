// SPDX-License-Identifier: GPL-2.0
/*
 * What an actor sees of its memory. One line for the mappings of each slot
 * (from smaps) and one for its pages (pagemap, kpageflags, contents).
 *
 * The order matters: smaps tells of accessed bits, which reading the pages
 * sets. Only pages that are present are read: reading brings in others.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "pagemap.h"

#define LETTERS_LEN 16

void say(const char *fmt, ...)
{
	size_t room = sizeof(arena->text) - arena->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(arena->text + arena->len, room, fmt, ap);
	va_end(ap);
	if ((size_t)len >= room)
		die("a program's record is too long");
	arena->len += len;
}

/* The whole of a proc file, into the scratch buffer. */
static char *slurp(const char *path)
{
	if (read_file(path, arena->scratch, sizeof(arena->scratch)) < 0)
		die_errno("cannot read %s", path);
	return arena->scratch;
}

static int slot_of(unsigned long addr)
{
	unsigned long slot = (addr - SLOT_BASE) / SLOT_STRIDE;

	return addr >= SLOT_BASE && slot < MAX_SLOTS ? (int)slot : -1;
}

/* The first line of a mapping: its place in the slot, permissions, offset. */
static void say_header(const char *line)
{
	unsigned long start, end, offset;
	char perms[5];

	if (sscanf(line, "%lx-%lx %4s %lx", &start, &end, perms, &offset) != 4)
		die("smaps has a mapping \"%s\"", line);
	say(" %lu+%lu:%s:%lx", (start - SLOT_BASE) % SLOT_STRIDE / PAGE_SIZE,
	    (end - start) / PAGE_SIZE, perms, offset / PAGE_SIZE);
}

/* A field that is not zero; sizes of pages follow from the mapping. */
static void say_field(char *line)
{
	char *colon = strchr(line, ':');
	unsigned long kib;

	if (!colon || strstr(line, "PageSize"))
		return;
	*colon++ = '\0';
	if (!strcmp(line, "VmFlags")) {
		for (; *colon; colon++) {
			if (isspace((unsigned char)*colon))
				continue;
			say("%s%c%c", colon[-1] == ' ' ? "," : "", colon[0],
			    colon[1]);
			colon++;
		}
		return;
	}
	kib = strtoul(colon, NULL, 10);
	if (kib)
		say(",%s=%lu", line, kib);
}

/* Does a line of smaps begin one of our mappings? Others are elsewhere. */
static bool is_ours(const char *line)
{
	return !strncmp(line, "20", 2) && line[10] == '-' &&
	       slot_of(strtoul(line, NULL, 16)) >= 0;
}

/*
 * Mappings come in the order of addresses: those of one slot are together. A
 * slot without any has a line of its own, too.
 */
static void observe_mappings(const struct actor *self,
			     const struct program *program)
{
	char *text = slurp("/proc/self/smaps"), *line;
	bool ours = false, seen[MAX_SLOTS] = { false };
	int slot = -1;

	while ((line = strsep(&text, "\n"))) {
		if (isupper((unsigned char)line[0])) {
			if (ours)
				say_field(line);
			continue;
		}
		ours = is_ours(line);
		if (!ours)
			continue;
		if (slot != slot_of(strtoul(line, NULL, 16))) {
			say("%s", slot < 0 ? "" : "\n");
			slot = slot_of(strtoul(line, NULL, 16));
			seen[slot] = true;
			say("v %u %c", self->id, 'A' + slot);
		}
		say_header(line);
	}
	say("%s", slot < 0 ? "" : "\n");
	for (slot = 0; slot < (int)MAX_SLOTS; slot++) {
		if (program->extent[slot].end && !seen[slot])
			say("v %u %c\n", self->id, 'A' + slot);
	}
}

static void read_words(const char *path, uint64_t index, uint64_t *out,
		       size_t nr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, out, nr * 8, index * 8) != (ssize_t)nr * 8)
		die_errno("cannot read %s at %#llx", path,
			  (unsigned long long)index);
	close(fd);
}

#define PM_PRESENT	(1ull << 63)
#define PM_SWAPPED	(1ull << 62)
#define PM_FILE		(1ull << 61)
#define PM_UFFD_WP	(1ull << 57)
#define PM_EXCLUSIVE	(1ull << 56)
#define PM_SOFT_DIRTY	(1ull << 55)
#define PM_PFN(word)	((word) & ((1ull << 55) - 1))

/* The flags of the page frames; neighbours in one go. */
static void read_flags(unsigned int pages)
{
	unsigned int i, nr;

	for (i = 0; i < pages; i += nr) {
		nr = 1;
		if (!(arena->word[i] & PM_PRESENT))
			continue;
		while (i + nr < pages && arena->word[i + nr] & PM_PRESENT &&
		       PM_PFN(arena->word[i + nr]) ==
		       PM_PFN(arena->word[i]) + nr)
			nr++;
		kpage_flags_range(PM_PFN(arena->word[i]), nr, &arena->flag[i]);
	}
}

static void name_state(uint64_t word, uint64_t flag, char *out)
{
	if (!(word & PM_PRESENT))
		flag = 0;
	*out++ = word & PM_PRESENT ? 'p' : word & PM_SWAPPED ? 's' : '-';
	if (word & PM_EXCLUSIVE)
		*out++ = 'x';
	if (word & PM_SOFT_DIRTY)
		*out++ = 'd';
	if (word & PM_UFFD_WP)
		*out++ = 'w';
	if (word & PM_FILE)
		*out++ = 'f';
	if (flag & KPF_ZERO_PAGE)
		*out++ = 'o';
	else if (flag & KPF_ANON && !(flag & KPF_SWAPBACKED))
		*out++ = 'z';
	if (flag & (KPF_COMPOUND_HEAD | KPF_COMPOUND_TAIL))
		*out++ = 'L';
	*out = '\0';
}

/* Pages in a row that are in one state and hold what follows on each other. */
struct run {
	unsigned int count;
	char state[LETTERS_LEN];
	char first[CONTENT_LEN];
	char next[CONTENT_LEN];
};

static void say_run(const struct run *run)
{
	if (run->count)
		say(" %u*%s%s%s", run->count, run->state,
		    run->first[0] ? ":" : "", run->first);
}

static void add_page(struct run *run, const struct run *page)
{
	if (run->count && !strcmp(run->state, page->state) &&
	    !strcmp(run->next, page->first)) {
		run->count++;
		strcpy(run->next, page->next);
		return;
	}
	say_run(run);
	*run = *page;
}

static void observe_pages(const struct actor *self, unsigned int slot,
			  struct extent extent)
{
	unsigned int i, pages = extent.end - extent.first;
	struct run run = { 0 };

	read_words("/proc/self/pagemap",
		   (uintptr_t)page_addr(slot, extent.first) / PAGE_SIZE,
		   arena->word, pages);
	read_flags(pages);
	say("m %u %c %u", self->id, 'A' + slot, extent.first);
	for (i = 0; i < pages; i++) {
		struct run page = { .count = 1 };

		name_state(arena->word[i], arena->flag[i], page.state);
		if (arena->word[i] & PM_PRESENT)
			content_name(page_addr(slot, extent.first + i),
				     page.first, page.next);
		add_page(&run, &page);
	}
	say_run(&run);
	say("\n");
}

/* "VmLck: 16 kB" and what else is exact at any time (the RSS counters are not). */
static void observe_status(const struct actor *self)
{
	static const char *const fields[] = { "VmLck", "VmPin", "VmPTE" };
	char *text = slurp("/proc/self/status"), *line;
	size_t i;

	say("u %u", self->id);
	while ((line = strsep(&text, "\n"))) {
		for (i = 0; i < ARRAY_SIZE(fields); i++) {
			if (!strncmp(line, fields[i], 5))
				say(" %s=%lu", fields[i],
				    strtoul(line + 6, NULL, 10));
		}
	}
	say("\n");
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

/* Read every page, present or not. */
struct outcome_text touch_all(const struct program *program)
{
	char name[CONTENT_LEN], next[CONTENT_LEN];
	unsigned int slot, page, refused = 0;

	for (slot = 0; slot < MAX_SLOTS; slot++) {
		const struct extent *extent = &program->extent[slot];

		for (page = extent->first; page < extent->end; page++) {
			content_name(page_addr(slot, page), name, next);
			refused += name[0] == '!';
		}
	}
	return outcome_fmt("refused=%u", refused);
}
