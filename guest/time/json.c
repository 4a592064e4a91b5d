// SPDX-License-Identifier: GPL-2.0
#include "time/json.h"

static FILE *out;
static bool first = true;

void json_to(FILE *file)
{
	out = file;
	first = true;
}

static void escaped(const char *text)
{
	const unsigned char *c;

	fputc('"', out);
	for (c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < ' ' || *c > '~')
			fprintf(out, "\\u%04x", *c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}

static void next(const char *key)
{
	if (!first)
		fputc(',', out);
	first = false;
	if (!key)
		return;
	fputc('\n', out);
	escaped(key);
	fputs(": ", out);
}

void json_open(const char *key, char bracket)
{
	next(key);
	fputc(bracket, out);
	first = true;
}

void json_close(char bracket)
{
	fputc(bracket, out);
	first = false;
}

void json_text(const char *key, const char *value)
{
	next(key);
	escaped(value);
}

void json_number(const char *key, double value)
{
	next(key);
	fprintf(out, "%.6g", value);
}

void json_bool(const char *key, bool value)
{
	next(key);
	fputs(value ? "true" : "false", out);
}
