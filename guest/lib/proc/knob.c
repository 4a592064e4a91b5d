// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "proc/knob.h"
#include "report/die.h"

void write_file(const char *path, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(text))
		die("text for %s is too long", path);
	if (!try_write_file(path, text))
		die_errno("cannot write \"%s\" to %s", text, path);
}

unsigned long read_number(const char *path)
{
	unsigned long value;
	char text[64];
	char *end;

	if (read_file(path, text, sizeof(text)) < 0)
		die_errno("cannot read %s", path);
	value = strtoul(text, &end, 10);
	if (end == text)
		die("%s holds no number but \"%s\"", path, text);
	return value;
}
