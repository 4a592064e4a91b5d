/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read and write whole small files. The caller handles errors; the functions of
 * proc/knob.h die.
 */
#ifndef QUIRE_FILE_H
#define QUIRE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns false, with errno set, unless one write(2) takes all of the text. */
bool try_write_file(const char *path, const char *text);
/*
 * Reads at most size - 1 bytes and terminates them. Returns the length, or -1.
 */
ssize_t read_file(const char *path, char *buf, size_t size);

#endif
