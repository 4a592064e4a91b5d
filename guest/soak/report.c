// SPDX-License-Identifier: GPL-2.0
/* Reports violations, and the last operations on a range. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proc/pagemap.h"
#include "report/die.h"
#include "soak.h"

#define MAX_REPORTS	4u
#define MAX_SHOWN	24u	/* notes */

void note(struct actor *self, struct range *range, size_t first, size_t count,
	  int result)
{
	struct model *model = range->model;
	uint32_t n = __atomic_fetch_add(&model->next_note, 1, __ATOMIC_RELAXED);

	model->note[n % NR_NOTES] = (struct note){
		.when = operations(),
		.owner = us.owner,
		.what = self->kind->name,
		.first = first,
		.count = count,
		.result = result,
	};
	common->doing[self->seat].page = first;
}

static const char *state_text(uint32_t state, char *text)
{
	static const char *const names[] = {
		"away", "moving", "sealing", "sealed", "locked", "absent",
	};
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (state & 1u << i)
			len += sprintf(text + len, " %s", names[i]);
	}
	return len ? text : " home";
}

static void show_page(const struct range *range, size_t page)
{
	uint32_t state = where(range, page);
	struct page_state entry = pagemap_page(place(range, state, page));
	char text[64];

	diag("page %zu at %p:%s; pagemap %#" PRIx64 ", flags %#" PRIx64
	     ", mapped %" PRIu64 " times", page, place(range, state, page),
	     state_text(state, text), entry.raw,
	     entry.present ? kpage_flags(entry.pfn) : 0,
	     entry.present ? kpage_count(entry.pfn) : 0);
}

static void show_note(const struct note *note)
{
	diag("at %" PRIu64 ": %s of %u pages from %u on by %u: %d", note->when,
	     note->what, note->count, note->first, note->owner,
	     note->result);
}

/* The last operations on the range, those on the page first. */
static void show_notes(const struct range *range, long page)
{
	const struct model *model = range->model;
	uint32_t next = model->next_note, n, shown = 0;

	for (n = 1; n <= NR_NOTES && n <= next && shown < MAX_SHOWN; n++) {
		const struct note *note = &model->note[(next - n) % NR_NOTES];

		if (page >= 0 && (page < note->first ||
				  page >= note->first + note->count))
			continue;
		show_note(note);
		shown++;
	}
}

void violation(const struct range *range, long page, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	uint32_t before;

	before = __atomic_fetch_add(&common->violations, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&common->stop, 1, __ATOMIC_SEQ_CST);
	if (before >= MAX_REPORTS)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (range && page >= 0)
		diag("after %" PRIu64 " operations, process %u, range %u, page "
		     "%ld: %s", operations(), us.owner, range->number, page,
		     text);
	else
		diag("after %" PRIu64 " operations, process %u: %s",
		     operations(), us.owner, text);
	if (!range)
		return;
	if (page >= 0)
		show_page(range, page);
	show_notes(range, page);
}

void refused(const struct range *range, long page, const char *what)
{
	violation(range, page, "%s: %s", what, strerror(errno));
}

/* For a run that makes no progress. */
void report_doing(void)
{
	uint64_t now = operations();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(common->doing); i++) {
		const struct doing *is = &common->doing[i];

		if (is->owner)
			diag("process %u is at %s of range %u, page %u, for %"
			     PRIu64 " operations", is->owner,
			     is->what ? is->what : "nothing", is->range, is->page,
			     now - is->since);
	}
}
