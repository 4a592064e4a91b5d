/* SPDX-License-Identifier: GPL-2.0 */
/* Settings and numbers of the kernel, a file each. These die on any error. */
#ifndef QUIRE_KNOB_H
#define QUIRE_KNOB_H

void write_file(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A file that holds one unsigned number; dies when it does not. */
unsigned long read_number(const char *path);

#endif
