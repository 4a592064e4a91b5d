// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "util.h"

static unsigned int find(const char *name,
			 void (*take)(const char *name, struct symbol *sym))
{
	unsigned int found = 0;
	struct symbol *sym;
	char *kept = NULL;
	size_t i = 0;

	while ((sym = symbol_named(name, &i))) {
		if (!found++)
			kept = strdup(name);
		if (!kept)
			die("no memory for the names");
		take(kept, sym);
	}
	return found;
}

static bool read_lines(FILE *file, const char *argument, const char *path,
		       void (*take)(const char *name, struct symbol *sym))
{
	unsigned int number = 0, found = 0;
	char *line = NULL;
	size_t room = 0, len;
	bool ok = true;

	while (ok && getline(&line, &room, file) >= 0) {
		number++;
		len = strcspn(line, " \t\r\n");
		ok = len && line[len] == '\n' && !line[len + 1];
		line[len] = '\0';
		if (ok)
			found += find(line, take);
		else
			complain("%s=%s:%u: expected a line with one name",
				 argument, path, number);
	}
	free(line);
	if (ok && !found) {
		complain("%s=%s names no function of symbols=FILE", argument,
			 path);
		ok = false;
	}
	return ok;
}

bool names_load(const char *argument, const char *path,
		void (*take)(const char *name, struct symbol *sym))
{
	FILE *file = fopen(path, "r");
	bool ok;

	if (!file) {
		complain("cannot open %s=%s: %s", argument, path,
			 strerror(errno));
		return false;
	}
	ok = read_lines(file, argument, path, take);
	fclose(file);
	return ok;
}
