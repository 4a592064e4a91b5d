/* SPDX-License-Identifier: GPL-2.0 */
/* Writes JSON: the caller opens and closes, this writes commas and escapes. */
#ifndef QUIRE_TIME_JSON_H
#define QUIRE_TIME_JSON_H

#include <stdbool.h>
#include <stdio.h>

/* From now on, to this file. */
void json_to(FILE *file);
/* key is NULL in a list, and for the document. */
void json_open(const char *key, char bracket);	/* { or [ */
void json_close(char bracket);			/* } or ] */
void json_text(const char *key, const char *value);
void json_number(const char *key, double value);
void json_bool(const char *key, bool value);

#endif
