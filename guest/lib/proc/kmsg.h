/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's warnings and worse messages. */
#ifndef QUIRE_KMSG_H
#define QUIRE_KMSG_H

struct kmsg {
	int fd;
	unsigned int level;	/* of the last warning */
	char text[2048];
};

/* Starts with the messages from now on. */
void kmsg_open(struct kmsg *kmsg);
/* The next warning, or NULL if there is none yet. Valid until the next call. */
const char *kmsg_warning(struct kmsg *kmsg);
void kmsg_close(struct kmsg *kmsg);

#endif
