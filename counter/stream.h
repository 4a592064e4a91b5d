/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stream: a line for each stop of a region, with the counts of that run
 * alone, and the calls of watched functions. Callers serialise all calls.
 */
#ifndef QUIRE_STREAM_H
#define QUIRE_STREAM_H

#include <stdbool.h>

#include "report.h"

/*
 * Opens the file. With @detail, the symbols' lines follow each stop. Returns
 * false after a complaint.
 */
bool stream_open(const char *path, bool detail);

/* Reads the watched functions' names. Returns false after a complaint. */
bool stream_watch(const char *path);

/* Writes the lines of a run of region @id, if the stream is open. */
void stream_stop(const struct report *report, unsigned int id,
		 const struct tally *run);

/* Complains if something was not written. */
void stream_close(void);

#endif
