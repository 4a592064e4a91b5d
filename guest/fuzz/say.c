// SPDX-License-Identifier: GPL-2.0
/*
 * Lines for the record, written into the arena. Observing memory again and
 * again is most of a program's cost, so the common pieces do not use printf().
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "report/die.h"

void say_bytes(const char *text, size_t len)
{
	if (arena->len + len >= sizeof(arena->text))
		die("a program's record is too long");
	memcpy(arena->text + arena->len, text, len);
	arena->len += len;
}

void say_text(const char *text)
{
	say_bytes(text, strlen(text));
}

void say_number(unsigned long number)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = '0' + number % 10;
		number /= 10;
	} while (number);
	say_bytes(at, digits + sizeof(digits) - at);
}

static uint64_t hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (len--)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ull;
	return h;
}

void say_state(size_t start, enum state state, unsigned int actor,
	       unsigned int slot)
{
	uint64_t *told = &arena->told[state][actor][slot];
	uint64_t h = hash(arena->text + start, arena->len - start);

	if (*told == h)
		arena->len = start;
	*told = h;
}

void say(const char *fmt, ...)
{
	size_t room = sizeof(arena->text) - arena->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(arena->text + arena->len, room, fmt, ap);
	va_end(ap);
	if ((size_t)len >= room)
		die("a program's record is too long");
	arena->len += len;
}
