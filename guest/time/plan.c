// SPDX-License-Identifier: GPL-2.0
#include <fnmatch.h>
#include <string.h>

#include "report/die.h"
#include "time/plan.h"

#ifndef QUIRE_PLAN
#define QUIRE_PLAN "/dev/null"
#endif
#ifndef QUIRE_BUILD
#define QUIRE_BUILD "by hand"
#endif

asm(".pushsection .data\n"
    ".globl plan_text\n"
    "plan_text:\n"
    "\t.incbin \"" QUIRE_PLAN "\"\n"
    "\t.byte 0\n"
    ".popsection");
extern char plan_text[];

const char plan_build[] = QUIRE_BUILD;

static bool wanted(const char *name, char *const *patterns, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return !nr;
}

size_t plan_rows(struct row_plan *rows, char *const *patterns, size_t nr)
{
	size_t found = 0;
	char *line, *rest;

	for (line = strtok_r(plan_text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *unit = strchr(line, '|');
		char *words = unit ? strchr(unit + 1, '|') : NULL;

		if (!words)
			die("the plan has a malformed line: %s", line);
		*unit++ = '\0';
		*words++ = '\0';
		if (found < MOST_ROWS && wanted(line, patterns, nr))
			rows[found++] = (struct row_plan){ line, unit, words };
	}
	return found;
}
