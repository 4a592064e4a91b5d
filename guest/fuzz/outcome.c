// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

struct outcome_text outcome_ok(void)
{
	return (struct outcome_text){ "ok" };
}

struct outcome_text outcome_fmt(const char *fmt, ...)
{
	struct outcome_text outcome;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(outcome.text, sizeof(outcome.text), fmt, ap);
	va_end(ap);
	return outcome;
}

struct outcome_text outcome_of(bool ok)
{
	const char *name;

	if (ok)
		return outcome_ok();
	name = strerrorname_np(errno);
	return outcome_fmt("%s", name ? name : "?");
}
