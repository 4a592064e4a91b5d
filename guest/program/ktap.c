// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "report/die.h"
#include "report/results.h"

/* All lines of a program are reported under one result. */
#define OURS	2
#define BAIL_OUT "Bail out!"

static struct ktap_level *deepest(struct ktap_reader *reader)
{
	return &reader->level[reader->deepest];
}

static void open_level(struct ktap_reader *reader, unsigned int indent)
{
	if (reader->deepest + 1 == KTAP_DEPTH)
		die("subtests are nested more than %d deep", KTAP_DEPTH);
	reader->deepest++;
	*deepest(reader) = (struct ktap_level){ .indent = indent };
	results_line("%*sKTAP version 1", OURS + indent, "");
}

static void fail(struct ktap_reader *reader, const char *why)
{
	diag("%s", why);
	deepest(reader)->failed = true;
}

/* All results of this level have been read. */
static void close_level(struct ktap_reader *reader)
{
	struct ktap_level *level = deepest(reader);
	char why[120];

	if (!level->has_plan) {
		fail(reader, "there is no plan, a line 1..N");
	} else if (level->planned != level->seen) {
		snprintf(why, sizeof(why), "%lu of %lu planned tests were reported",
			 level->seen, level->planned);
		fail(reader, why);
	}
	reader->nested_failed = level->failed;
}

/* The level of a line with this indentation; ends all deeper levels. */
static struct ktap_level *level_at(struct ktap_reader *reader,
				   unsigned int indent)
{
	reader->nested_failed = false;
	while (reader->deepest && deepest(reader)->indent > indent) {
		close_level(reader);
		reader->deepest--;
	}
	if (indent > deepest(reader)->indent)
		open_level(reader, indent);
	return deepest(reader);
}

/* "1..N", perhaps followed by "# SKIP reason". */
static bool take_plan(struct ktap_reader *reader, unsigned int indent,
		      const char *text)
{
	struct ktap_level *level;
	unsigned long planned;
	const char *skip;
	int end = -1;

	if (sscanf(text, "1..%lu%n", &planned, &end) != 1 ||
	    (text[end] && text[end] != ' '))
		return false;
	level = level_at(reader, indent);
	level->planned = planned;
	level->has_plan = true;
	skip = strstr(text, "SKIP");
	if (!planned && skip && !reader->deepest) {
		reader->skipped = true;
		snprintf(reader->reason, sizeof(reader->reason), "%s",
			 skip + strcspn(skip, " \t"));
	}
	results_line("%*s%s", OURS + indent, "", text);
	return true;
}

/* The part of "ok 3 - name" after "ok". A missing number is the next one. */
static unsigned long take_number(const char **rest, unsigned long next)
{
	unsigned long number;
	char *end;

	*rest += strspn(*rest, " ");
	number = strtoul(*rest, &end, 10);
	if (end == *rest || !isdigit((unsigned char)**rest) ||
	    (*end && *end != ' '))
		return next;
	*rest = end + strspn(end, " ");
	return number;
}

/* A "#" only starts a directive, because the host takes no other. */
static int printed_length(const char *text)
{
	const char *hash = strchr(text, '#');

	if (hash && !isalnum((unsigned char)hash[1 + strspn(hash + 1, " ")]))
		return hash - text;
	return strlen(text);
}

static bool take_result(struct ktap_reader *reader, unsigned int indent,
			const char *text)
{
	bool negative = !strncmp(text, "not ", 4);
	const char *rest = text + (negative ? 4 : 0);
	struct ktap_level *level;
	unsigned long number;

	if (strncmp(rest, "ok", 2) || (rest[2] && rest[2] != ' '))
		return false;
	rest += 2;
	level = level_at(reader, indent);
	number = take_number(&rest, level->seen + 1);
	results_line("%*s%sok %lu %.*s", OURS + indent, "",
		     negative ? "not " : "", number, printed_length(rest),
		     rest);
	level->failed |= negative;
	if (number != ++level->seen)
		fail(reader, "results are not numbered 1, 2, 3, ...");
	if (!negative && reader->nested_failed)
		fail(reader, "a test is ok although its subtest failed");
	return true;
}

/* The first version line is ours. */
static bool take_version(struct ktap_reader *reader, unsigned int indent,
			 const char *text)
{
	unsigned int version;

	if (sscanf(text, "KTAP version %u", &version) != 1 &&
	    sscanf(text, "TAP version %u", &version) != 1)
		return false;
	level_at(reader, indent);
	return true;
}

void ktap_begin(struct ktap_reader *reader)
{
	*reader = (struct ktap_reader){ .deepest = 0 };
	results_line("%*sKTAP version 1", OURS, "");
}

void ktap_take(struct ktap_reader *reader, const char *text)
{
	unsigned int indent = strspn(text, " ");

	text += indent;
	if (!*text || take_version(reader, indent, text) ||
	    take_plan(reader, indent, text) ||
	    take_result(reader, indent, text))
		return;
	if (!strncmp(text, BAIL_OUT, strlen(BAIL_OUT))) {
		reader->level[0].failed = true;
		results_line("%*s%s", OURS, "", text);
	} else {
		results_line("%*s%s%s", OURS + indent, "",
			     *text == '#' ? "" : "# ", text);
	}
}

bool ktap_end(struct ktap_reader *reader)
{
	level_at(reader, 0);
	if (!reader->skipped && !reader->level[0].seen)
		fail(reader, "no test was reported");
	close_level(reader);
	return !reader->level[0].failed;
}
