// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/die.h"
#include "report/results.h"

static const char *prefix = "note ";

void diag_prefix(const char *new_prefix)
{
	prefix = new_prefix;
}

void diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline(prefix, fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline(prefix, fmt, ap);
	va_end(ap);
	exit(STATUS_FAILED);
}

void die_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	results_vline(prefix, fmt, ap);
	va_end(ap);
	exit(STATUS_USAGE);
}

void die_errno(const char *fmt, ...)
{
	int err = errno;
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("%s: %s", text, strerror(err));
}

void *allocate(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		die("no memory for %zu objects of %zu bytes", nr, size);
	return memory;
}
