// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>

#include "report/expectation.h"

/* Where programs count that are no case. */
static struct tally outside;
static struct tally *current = &outside;

struct tally *tally_use(struct tally *tally)
{
	struct tally *last = current;

	current = tally;
	return last;
}

void ktap_count(bool ok)
{
	__atomic_add_fetch(&current->checks, 1, __ATOMIC_RELAXED);
	if (!ok)
		__atomic_add_fetch(&current->failures, 1, __ATOMIC_RELAXED);
}

bool ktap_expect(bool ok, const char *file, int line, const char *fmt, ...)
{
	unsigned int failures;
	char text[320];
	va_list ap;

	ktap_count(ok);
	if (ok)
		return true;
	failures = __atomic_load_n(&current->failures, __ATOMIC_RELAXED);
	if (failures > TALLY_PRINTED)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag("%s:%d: %s", file, line, text);
	return false;
}

void ktap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(current->skip_reason, sizeof(current->skip_reason), fmt, ap);
	va_end(ap);
	exit(STATUS_SKIP);
}
