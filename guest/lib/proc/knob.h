/* SPDX-License-Identifier: GPL-2.0 */
/* Settings and numbers of the kernel, one per file. These die on any error. */
#ifndef QUIRE_KNOB_H
#define QUIRE_KNOB_H

void write_file(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Reads a file that holds one unsigned number; dies if it does not. */
unsigned long read_number(const char *path);

#endif
