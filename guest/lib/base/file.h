/* SPDX-License-Identifier: GPL-2.0 */
/* Whole small files. An error is the caller's to judge; proc/knob.h dies. */
#ifndef QUIRE_FILE_H
#define QUIRE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* False, with errno, unless all of the text was taken by one write(2). */
bool try_write_file(const char *path, const char *text);
/* Reads at most size - 1 bytes, terminates; returns the length, -1 on error. */
ssize_t read_file(const char *path, char *buf, size_t size);

#endif
