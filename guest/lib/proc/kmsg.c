// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/kmsg.h"
#include "report/die.h"

/* The kernel's messages of this level and worse are warnings. */
#define LEVEL	4

void kmsg_open(struct kmsg *kmsg)
{
	kmsg->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg->fd < 0 || lseek(kmsg->fd, 0, SEEK_END) < 0)
		die_errno("cannot read /dev/kmsg");
}

/* A message is "level,sequence,time,flags;text" and lines of attributes. */
const char *kmsg_warning(struct kmsg *kmsg)
{
	char *text = kmsg->text, *message;
	ssize_t len;

	for (;;) {
		len = read(kmsg->fd, text, sizeof(kmsg->text) - 1);
		if (len < 0 && errno == EPIPE)
			continue;	/* older messages were overwritten */
		if (len <= 0)
			return NULL;
		text[len] = '\0';
		text[strcspn(text, "\n")] = '\0';
		message = strchr(text, ';');
		kmsg->level = strtoul(text, NULL, 10) & 7;
		if (kmsg->level <= LEVEL && message)
			return message + 1;
	}
}

void kmsg_close(struct kmsg *kmsg)
{
	close(kmsg->fd);
}
