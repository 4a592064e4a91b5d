/* SPDX-License-Identifier: GPL-2.0 */
/* Captures the report as text, for tests of the report itself. */
#ifndef QUIRE_CAPTURE_H
#define QUIRE_CAPTURE_H

#include <stddef.h>

struct capture {
	int outer, fd;
};

/* From here on, lines of this process and its children go to a file. */
struct capture capture_begin(void);
/* Ends that. Copies at most size - 1 bytes and a null byte. */
void capture_end(const struct capture *capture, char *text, size_t size);

#endif
