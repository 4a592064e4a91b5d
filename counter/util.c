// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util.h"

static void say(const char *fmt, va_list args)
{
	fputs("libquire-count: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	/* Not exit(): its handlers would write incomplete counts. */
	_Exit(1);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("no memory for %zu bytes", n * size);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	void *moved = realloc(p, size);

	if (!moved)
		die("no memory for %zu bytes", size);
	return moved;
}
