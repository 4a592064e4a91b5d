// SPDX-License-Identifier: GPL-2.0
/*
 * Programs as text: "program NUMBER", then one operation per line. The lab has
 * checked them, so an error here ends the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/die.h"

static const struct verb *find(const struct verb *verb, const char *name)
{
	for (; verb->name; verb++) {
		if (!strcmp(verb->name, name))
			return verb;
	}
	return NULL;
}

const struct verb *verb_named(const char *name)
{
	const struct verb *verb = find(actor_verbs, name);

	return verb ? verb : find(global_verbs, name);
}

static const char *next_word(char **line)
{
	const char *word = strsep(line, " ");

	if (!word || !*word)
		die_usage("a program's line ends too early");
	return word;
}

static unsigned int next_number(char **line, unsigned int limit)
{
	const char *word = next_word(line);
	unsigned long value;
	char *end;

	value = strtoul(word, &end, 10);
	if (*end || value > limit)
		die_usage("\"%s\" is no number up to %u", word, limit);
	return value;
}

static unsigned int next_slot(char **line)
{
	const char *word = next_word(line);

	if (word[1] || word[0] < 'A' || word[0] >= 'A' + (int)MAX_SLOTS)
		die_usage("\"%s\" is no slot", word);
	return word[0] - 'A';
}

static void next_parameter(char **line, char kind, struct op *op)
{
	switch (kind) {
	case 'R':
		op->slot = next_slot(line);
		op->page = next_number(line, SLOT_PAGES);
		op->count = next_number(line, SLOT_PAGES - op->page);
		break;
	case 'A':
		op->to_slot = next_slot(line);
		op->to_page = next_number(line, SLOT_PAGES);
		break;
	case 'n':
		op->number = next_number(line, 1 << 20);
		break;
	case 'w':
		snprintf(op->word, sizeof(op->word), "%s", next_word(line));
		break;
	}
}

static void parse_op(char *line, struct op *op)
{
	const char *word = next_word(&line), *takes;

	if (*word >= '0' && *word <= '9') {
		op->actor = strtoul(word, NULL, 10);
		if (op->actor >= MAX_ACTORS)
			die_usage("there is no process %u", op->actor);
		word = next_word(&line);
	}
	op->verb = verb_named(word);
	if (!op->verb)
		die_usage("there is no operation \"%s\"", word);
	for (takes = op->verb->takes; *takes; takes++)
		next_parameter(&line, *takes, op);
}

static void extend(struct extent *extent, unsigned int page, unsigned int count)
{
	if (!count)
		return;
	if (!extent->end || page < extent->first)
		extent->first = page;
	if (page + count > extent->end)
		extent->end = page + count;
	if (extent->end > SLOT_PAGES)
		extent->end = SLOT_PAGES;
}

static void add_op(struct program *program, char *line)
{
	struct op *op = &program->op[program->nr_ops];

	if (program->nr_ops == MAX_OPS)
		die_usage("a program has more than %u operations", MAX_OPS);
	memset(op, 0, sizeof(*op));
	op->index = program->nr_ops++;
	parse_op(line, op);
	program->words |= !strcmp(op->verb->name, "word");
	extend(&program->extent[op->slot], op->page, op->count);
	if (strchr(op->verb->takes, 'A'))
		extend(&program->extent[op->to_slot], op->to_page,
		       op->count ? op->count : 1);
}

bool program_next(char **text, struct program *program)
{
	char *line;

	memset(program, 0, sizeof(*program));
	line = strsep(text, "\n");
	if (!line || sscanf(line, "program %u", &program->number) != 1)
		return false;
	while (*text && **text && strncmp(*text, "program ", 8)) {
		line = strsep(text, "\n");
		if (*line && *line != '#')
			add_op(program, line);
	}
	return true;
}
