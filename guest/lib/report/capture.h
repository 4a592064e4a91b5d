/* SPDX-License-Identifier: GPL-2.0 */
/* What is reported meanwhile, as text: for tests of the reporting itself. */
#ifndef QUIRE_CAPTURE_H
#define QUIRE_CAPTURE_H

#include <stddef.h>

struct capture {
	int outer, fd;
};

/* Lines of this process and its children go to a file in between. */
struct capture capture_begin(void);
/* At most size - 1 bytes, and a null byte. */
void capture_end(const struct capture *capture, char *text, size_t size);

#endif
