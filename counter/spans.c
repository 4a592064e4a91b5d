// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "spans.h"
#include "util.h"

/* Pointers into one copy of the argument. */
static struct span {
	const char *name;
	const char *begin;
	const char *end;
} spans[MAX_SPANS];
static unsigned int n_spans;

static bool split(char *text, struct span *span)
{
	span->name = strsep(&text, ":");
	span->begin = strsep(&text, ":");
	span->end = strsep(&text, ":");
	return !text && span->end && *span->name && *span->begin && *span->end;
}

/* Makes a span of the words of `copy`, which must not be freed then. */
static bool add(const char *text, char *copy)
{
	struct span span;

	/* Blanks separate the words of an output line. */
	if (strpbrk(text, " \t\r\n") || !split(copy, &span)) {
		complain("span=%s is not span=NAME:BEGIN:END", text);
		return false;
	}
	for (unsigned int i = 0; i < n_spans; i++) {
		if (!strcmp(spans[i].name, span.name)) {
			complain("span=%s: there is a span of that name already; call it differently",
				 text);
			return false;
		}
	}
	if (n_spans == MAX_SPANS) {
		complain("span=%s is one too many; there can be %d", text,
			 MAX_SPANS);
		return false;
	}
	spans[n_spans++] = span;
	return true;
}

bool span_add(const char *text)
{
	char *copy = strdup(text);
	bool added;

	if (!copy)
		die("no memory for the spans");
	added = add(text, copy);
	if (!added)
		free(copy);
	return added;
}

static bool complain_unknown(const struct span *span, const char *symbol)
{
	complain("span=%s:%s:%s: no \"%s\" in symbols=FILE; name a function that is there, this one may be inlined or carry a suffix",
		 span->name, span->begin, span->end, symbol);
	return false;
}

/* Static functions may share a name: each of them begins or ends the span. */
static bool resolve(const struct span *span, span_set_t bit)
{
	struct symbol *sym;
	size_t i, found;

	for (i = found = 0; (sym = symbol_named(span->begin, &i)); found++)
		sym->begins |= bit;
	if (!found)
		return complain_unknown(span, span->begin);
	for (i = found = 0; (sym = symbol_named(span->end, &i)); found++) {
		if (sym->begins & bit) {
			complain("span=%s:%s:%s begins and ends with the same instruction; name two functions",
				 span->name, span->begin, span->end);
			return false;
		}
		sym->ends |= bit;
	}
	return found || complain_unknown(span, span->end);
}

bool spans_resolve(void)
{
	for (unsigned int i = 0; i < n_spans; i++)
		if (!resolve(&spans[i], (span_set_t)1 << i))
			return false;
	return true;
}

span_set_t spans_changing(const struct span_tally *tally,
			  const struct symbol *sym)
{
	return (sym->begins & ~tally->open) | (sym->ends & tally->open);
}

void spans_switch(struct span_tally *tally, span_set_t which, uint64_t total)
{
	for (unsigned int i = 0; i < n_spans; i++) {
		span_set_t bit = (span_set_t)1 << i;

		if (!(which & bit))
			continue;
		if (tally->open & bit) {
			tally->span[i].insns += total - tally->span[i].since;
		} else {
			tally->span[i].stretches++;
			tally->span[i].since = total;
		}
	}
	tally->open ^= which;
}

void spans_write(FILE *out, unsigned int id, const struct span_tally *tally)
{
	for (unsigned int i = 0; i < n_spans; i++)
		fprintf(out, "span %u %s %" PRIu64 " %" PRIu64 "\n", id,
			spans[i].name, tally->span[i].stretches,
			tally->span[i].insns);
}
