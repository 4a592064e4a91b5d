// SPDX-License-Identifier: GPL-2.0
/*
 * The mappings of an actor, from its smaps: one line per slot. The kernel's
 * work for smaps is most of the cost of an observation, so nothing behind the
 * slots is read.
 */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/die.h"

/*
 * Less than the text of one mapping (some 800 bytes): the kernel walks the
 * pages of the next mapping only when all of the last one has been read.
 */
#define CHUNK 512u

/* In the place of a slot. */
enum { BEFORE = MAX_SLOTS, BEHIND };

/* The part of smaps that was read, and our position in it. */
struct reader {
	size_t len, at;
	char *text;
};

/* What this process last needed: it often needs as much again. */
static size_t needed = CHUNK;

struct call smaps_call(void)
{
	return proc_call(PROC_SMAPS, arena->scratch, needed, 0);
}

static bool read_more(struct reader *reader)
{
	ssize_t got;

	if (reader->len + CHUNK > SCRATCH_SIZE)
		die("smaps is too long");
	got = pread(proc_open(PROC_SMAPS), reader->text + reader->len, CHUNK,
		    reader->len);
	if (got < 0)
		die_errno("cannot read smaps");
	reader->len += got;
	return got;
}

/* The next line, without its newline; NULL if there is none. */
static char *next_line(struct reader *reader)
{
	char *line, *end;

	do {
		line = reader->text + reader->at;
		end = memchr(line, '\n', reader->len - reader->at);
	} while (!end && read_more(reader));
	if (!end)
		return NULL;
	*end = '\0';
	reader->at = end + 1 - reader->text;
	return line;
}

static unsigned long take_hex(char **text)
{
	unsigned long value = 0;

	for (; isxdigit((unsigned char)**text); (*text)++)
		value = value << 4 | (**text <= '9' ? **text - '0' :
						      **text - 'a' + 10);
	return value;
}

/* As this process last observed it. */
static bool mapped[MAX_SLOTS][SLOT_PAGES];

bool is_mapped(unsigned int slot, unsigned int page)
{
	return mapped[slot][page];
}

/* Likewise: the present pages of the last mapping, and slots with old ones. */
static unsigned long rss;
static bool old[MAX_SLOTS];

bool is_old(unsigned int slot)
{
	return old[slot];
}

/* "start-end perms offset ...": place in the slot, permissions, offset. */
static void say_header(unsigned int slot, unsigned long start, char *line)
{
	unsigned long end, offset, page, pages;
	char *perms;

	line++;
	end = take_hex(&line);
	perms = ++line;
	line += 5;
	offset = take_hex(&line);
	if (perms[4] != ' ' || *line != ' ')
		die("smaps has a mapping \"%lx %s\"", start, perms);
	page = start % SLOT_STRIDE / PAGE_SIZE;
	pages = (end - start) / PAGE_SIZE;
	if (page + pages <= SLOT_PAGES)
		memset(&mapped[slot][page], true, pages);
	say_text(" ");
	say_number(page);
	say_text("+");
	say_number(pages);
	say_text(":");
	say_bytes(perms, 4);
	say(":%lx", offset / PAGE_SIZE);
}

/* "VmFlags: rd wr mr ..." */
static void say_flags(const char *text)
{
	for (; *text; text++) {
		if (*text == ' ')
			continue;
		say_text(",");
		say_bytes(text++, 2);
	}
}

/*
 * "Rss:   12 kB", if not zero, as with pages of 4 KiB; page sizes follow from the
 * mapping.
 */
static void say_field(unsigned int slot, const char *line)
{
	const char *colon = strchr(line, ':'), *digit;
	unsigned long value = 0;

	if (!colon)
		return;
	if (!strncmp(line, "VmFlags", 7)) {
		say_flags(colon + 1);
		return;
	}
	for (digit = colon + 1; *digit == ' '; digit++)
		;
	for (; *digit >= '0' && *digit <= '9'; digit++)
		value = value * 10 + *digit - '0';
	if (!strncmp(line, "Rss:", 4))
		rss = value;
	else if (!strncmp(line, "Referenced:", 11))
		old[slot] |= value < rss;
	if (!value || strstr(line, "PageSize:"))
		return;
	say_text(",");
	say_bytes(line, colon - line);
	say_text("=");
	say_number(value / PAGE_SCALE);
}

/* The mapping that begins there. Mappings behind the last slot are ignored. */
static unsigned int slot_of(unsigned long start)
{
	start /= SLOT_STRIDE;
	if (start >= MAX_SLOTS)
		return BEHIND;
	return (start + MAX_SLOTS - 1) % MAX_SLOTS;
}

/* The line with the mappings of one slot, while it is being written. */
struct line {
	unsigned int actor, slot;
	size_t start;
	bool seen[MAX_SLOTS];
};

static void begin_line(struct line *line, unsigned int slot)
{
	line->slot = slot;
	line->start = arena->len;
	line->seen[slot] = true;
	say_text("v ");
	say_number(line->actor);
	say_bytes((char[]){ ' ', 'A' + slot }, 2);
}

static void end_line(struct line *line)
{
	if (line->slot >= MAX_SLOTS)
		return;
	say_text("\n");
	say_state(line->start, MAPPINGS, line->actor, line->slot);
	line->slot = BEFORE;
}

/* A line of smaps that begins a mapping. Returns whether it is of interest. */
static bool begin_mapping(struct line *line, char *text)
{
	unsigned long start = take_hex(&text);
	unsigned int slot = slot_of(start);

	if (slot != line->slot) {
		end_line(line);
		if (slot < MAX_SLOTS)
			begin_line(line, slot);
		line->slot = slot;
	}
	if (slot < MAX_SLOTS)
		say_header(slot, start, text);
	return slot < MAX_SLOTS;
}

/*
 * Mappings are in the order of addresses, so those of one slot are together. A
 * slot without mappings also has a line.
 */
void observe_mappings(const struct actor *self, const struct program *program,
		      size_t len)
{
	struct reader reader = { .text = arena->scratch, .len = len };
	struct line line = { .actor = self->id, .slot = BEFORE };
	unsigned int slot;
	bool ours = false;
	char *text;

	memset(mapped, false, sizeof(mapped));
	memset(old, false, sizeof(old));
	while (line.slot != BEHIND && (text = next_line(&reader))) {
		if (!isupper((unsigned char)*text))
			ours = begin_mapping(&line, text);
		else if (ours)
			say_field(line.slot, text);
	}
	needed = reader.at;
	end_line(&line);
	for (slot = 0; slot < MAX_SLOTS; slot++) {
		if (!program->extent[slot].end || line.seen[slot])
			continue;
		begin_line(&line, slot);
		end_line(&line);
	}
}
